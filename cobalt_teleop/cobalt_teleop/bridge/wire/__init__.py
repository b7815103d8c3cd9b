"""What goes over the wire between the bridge and its pages."""
