"""A tiny plant that shows what is to be done."""

from cobalt_teleop.workcell_host.ideal_plant import IdealPlant


class GoalPlant(IdealPlant):
    """Its goal is what its camera sees at the start of the seed 0."""

    def goal_picture(self, task):
        return type(self)().capture('front')
