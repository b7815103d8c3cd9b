"""The host of workcells: ticks, services and messages around a plant, be it simulated or real."""
