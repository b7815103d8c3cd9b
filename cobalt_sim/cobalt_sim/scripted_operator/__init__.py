"""An operator who is a script: an expert of the task, with the habits of a person, who drives through ROS alone."""
