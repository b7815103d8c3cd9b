"""Video: the H.264 encoder, a camera's topics, and the node that encodes cameras which publish raw pictures."""
