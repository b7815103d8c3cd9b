"""A simulated arm that is reached as hardware is: in a process, and with a clock, of its own."""
