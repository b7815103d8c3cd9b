"""One simulated workcell, as its host drives it."""

import copy
import time
from collections.abc import Mapping
from typing import Any

import mujoco
import numpy as np

from cobalt_sim import goal_scene
from cobalt_sim.domain import DomainSpread, randomise
from cobalt_sim.plant_arm import PlantArm
from cobalt_sim.render_context import Bodies
from cobalt_sim.scene import FRONT
from cobalt_sim.sim_world import SimWorld
from cobalt_sim.still_background import Depth
from cobalt_sim.tasks.task import SceneState
from cobalt_teleop.core.errors import CobaltError
from cobalt_teleop.core.pose import Pose, Vector, rotation_vector, wxyz, xyzw
from cobalt_teleop.kinematics.arm_set import ARM
from cobalt_teleop.workcell_host.plant import (
    Capabilities,
    FullState,
    Observation,
    PartAction,
    Picture,
    Progress,
    TaskInfo,
)

PART = ARM

_STATE = mujoco.mjtState.mjSTATE_INTEGRATION
STATE_FORMAT = f'MuJoCo {mujoco.__version__}: integration state, drives'
"""What a full state is."""

_UNSTABLE = (
    mujoco.mjtWarning.mjWARN_BADQPOS,
    mujoco.mjtWarning.mjWARN_BADQVEL,
    mujoco.mjtWarning.mjWARN_BADQACC,
)


class MujocoPlant:
    """A workcell with a state of its own in a shared world.

    Args:
        world: Shared with the other workcells.
        seed: Of the first start state.
        domain: How much differs from episode to episode; the world's if not given.
    """

    def __init__(self, world: SimWorld, seed: int = 0, *, domain: DomainSpread | None = None) -> None:
        self._world = world
        self._domain = world.domain if domain is None else domain
        self._model = copy.deepcopy(world.model) if self._domain.varies else world.model
        self._data = mujoco.MjData(self._model)
        self._arms = {
            arm.part: PlantArm(arm, self._model, self._data, world.indices.arms[arm.part], world.tick_s)
            for arm in world.arms.arms
        }
        self._capabilities = self._describe()
        self.reset(world.task.info.name, seed)

    def _describe(self) -> Capabilities:
        return Capabilities(
            real=False,
            robot=self._world.arms.title,
            parts=tuple(arm.describe() for arm in self._arms.values()),
            cameras=tuple(self._world.cameras.values()),
            objects=self._world.task.objects,
            tasks=(self._world.task.info.name,),
            can_reset=True,
            judges_success=True,
            tells_full_state=True,
            randomisation=self._domain.as_text(),
        )

    @property
    def capabilities(self) -> Capabilities:
        """What it is and can do; constant."""
        return self._capabilities

    @property
    def data(self) -> Any:
        """The mujoco.MjData: the true state, for tests and measurements."""
        return self._data

    def task_info(self, task: str) -> TaskInfo:
        """Returns what the task asks for."""
        self._check_task(task)
        return self._world.task.info

    def _check_task(self, task: str) -> None:
        if task != self._world.task.info.name:
            raise CobaltError(
                f"this simulator runs the task '{self._world.task.info.name}', not '{task}'; start it with task:={task}"
            )

    def observe(self) -> Observation:
        """Returns the measured state. Does not wait."""
        return self._observation

    def objects_seen_by(self, part: str) -> Mapping[str, Pose]:
        """Returns the objects' poses in the base frame of a part, by name."""
        to_part = self._arms[part].base.inverse() @ self._first.base
        return {name: to_part @ pose for name, pose in self._observation.objects.items()}

    def full_state(self) -> FullState:
        """Returns all that the simulation goes on from: MuJoCo's integration state, then each arm's drive."""
        values = np.empty(mujoco.mj_stateSize(self._model, _STATE))
        mujoco.mj_getState(self._model, self._data, values, _STATE)
        return FullState(
            format=STATE_FORMAT, values=np.concatenate([values, *(arm.drive.state for arm in self._arms.values())])
        )

    def go_on_from(self, state: FullState) -> None:
        """Brings this workcell into a state that one like it was in.

        Raises:
            CobaltError: It is the state of another model, or of another version of MuJoCo.
        """
        count = mujoco.mj_stateSize(self._model, _STATE)
        own = self.full_state()
        if state.format != own.format or state.values.shape != own.values.shape or not np.isfinite(state.values).all():
            raise CobaltError(
                f'the state is of {state.format or "nothing"} with {state.values.size} values, but this simulator has '
                f'{own.format} with {own.values.size}'
            )
        parts = np.split(state.values, count + np.cumsum([0, *(arm.drive.state.size for arm in self._arms.values())]))
        mujoco.mj_setState(self._model, self._data, parts[0], _STATE)
        for arm, drive in zip(self._arms.values(), parts[1:-1], strict=True):
            arm.drive.state = drive
        mujoco.mj_forward(self._model, self._data)
        # What follows from the state is computed; where the solver begins must stay what it was.
        mujoco.mj_setState(self._model, self._data, parts[0], _STATE)
        self._look()

    def apply(self, actions: Mapping[str, PartAction]) -> None:
        """Takes the targets for this tick. After a fault the arm stays in its start state until the next reset."""
        if self._fault:
            return
        for part, action in actions.items():
            self._arms[part].aim(action)

    def advance(self) -> None:
        """Simulates one control period. Releases the interpreter's lock meanwhile."""
        for arm in self._arms.values():
            arm.drive.run(self._data)
        mujoco.mj_step(self._model, self._data, nstep=self._world.substeps)
        if self._unstable():
            fault = f'the simulation became unstable at {self._data.time:.2f} s and was reset; start a new episode'
            self.reset(self._world.task.info.name, self._seed)
            self._fault = fault
        else:
            mujoco.mj_forward(self._model, self._data)
        self._look()

    def _unstable(self) -> bool:
        bad = any(self._data.warning[warning].number for warning in _UNSTABLE)
        return bad or not (np.isfinite(self._data.qpos).all() and np.isfinite(self._data.qvel).all())

    def progress(self) -> Progress:
        """Returns the progress of the present state."""
        return self._progress

    def reset(self, task: str, seed: int) -> None:
        """Brings this workcell, and no other, into the start state that belongs to the seed."""
        self._check_task(task)
        self._seed = seed
        self._fault = ''
        if self._domain.varies:
            bodies = [self._world.indices.object_bodies[name] for name in self._world.task.objects]
            randomise(self._model, self._world.model, self._domain, seed, bodies)
        self._rest_at(
            {arm.part: arm.robot.home for arm in self._world.arms.arms},
            self._world.task.start(np.random.default_rng(seed)),
        )
        self._judge = self._world.task.new_judge()
        self._look()

    def show_goal(self) -> None:
        """Brings this workcell into a state in which its task is done: a scene to look at, not one to drive from."""
        goal = self._world.task.goal()
        table = self._table()
        joints = {}
        for arm in self._world.arms.arms:
            place = table @ Pose(goal.other_tools.get(arm.part, goal.tool))
            joints[arm.part] = goal_scene.joints_at(
                self._arms[arm.part].kinematics,
                arm.robot.home,
                (self._arms[arm.part].base.inverse() @ place).position,
                goal.quat_xyzw,
            )
        self._rest_at(joints, goal.objects)
        goal_scene.close_on_objects(self._world, self._data, list(self._arms.values()), goal.gripper)
        self._judge = self._world.task.new_judge()
        self._look()

    def _rest_at(self, joints: Mapping[str, Vector], objects: Mapping[str, Pose]) -> None:
        """Puts the arms at (n,) joints [rad], with open grippers, and the objects at poses in the table's frame."""
        model, data = self._model, self._data
        mujoco.mj_resetData(model, data)
        for part, arm in self._arms.items():
            arm.rest_at(joints[part])
        mujoco.mj_kinematics(model, data)
        for arm in self._arms.values():
            arm.find_base()
        table = self._table()
        self._table_from_world = table.inverse()
        for name, pose in objects.items():
            self._put(name, table @ pose)
        mujoco.mj_forward(model, data)

    def _table(self) -> Pose:
        """Returns the pose of the table's frame in the world: the base frame of a single arm."""
        return self._first.base if len(self._arms) == 1 else Pose()

    @property
    def _first(self) -> PlantArm:
        return next(iter(self._arms.values()))

    def _put(self, name: str, pose: Pose) -> None:
        """Puts an object at a pose in the world frame."""
        data, indices = self._data, self._world.indices
        if name in indices.object_mocap:
            data.mocap_pos[indices.object_mocap[name]] = pose.position
            data.mocap_quat[indices.object_mocap[name]] = wxyz(pose.quat_xyzw)
            return
        at = indices.object_qpos[name]
        if name in indices.one_way_objects:
            data.qpos[at] = self._joint_position(indices.one_way_objects[name], pose)
            return
        data.qpos[at : at + 3] = pose.position
        data.qpos[at + 3 : at + 7] = wxyz(pose.quat_xyzw)

    def _joint_position(self, joint: int, pose: Pose) -> float:
        """Returns the position of a slide [m] or hinge [rad] that brings its body, a child of the world, to a pose."""
        model = self._model
        body = model.jnt_bodyid[joint]
        moved = Pose(model.body_pos[body], xyzw(model.body_quat[body])).inverse() @ pose
        slides = model.jnt_type[joint] == mujoco.mjtJoint.mjJNT_SLIDE
        return float(model.jnt_axis[joint] @ (moved.position if slides else rotation_vector(moved.quat_xyzw)))

    def hold(self) -> None:
        """Keeps the present targets."""

    def stop(self) -> None:
        """Emergency stop: the servos hold the joints where they are now."""
        for arm in self._arms.values():
            arm.stop()

    def capture(self, camera: str, size_px: tuple[int, int] | None = None) -> Picture:
        """Returns a picture of the present state, (height, width, 3) RGB, from the calling thread's own context.

        Args:
            camera: Its name.
            size_px: Width and height; the camera's own by default.
        """
        return self._world.draw(self._data, camera, size_px)

    def capture_depth(self, camera: str) -> Depth:
        """Returns (height, width) how far what is seen lies from the camera along its axis [m]."""
        return self._world.draw_depth(self._data, camera)

    def capture_bodies(self, camera: str) -> Bodies:
        """Returns (height, width) the number of the body that is seen, 0 for what does not move."""
        return self._world.draw_bodies(self._data, camera)

    def goal_picture(self, task: str) -> Picture | None:
        """Returns what the front camera sees when the task is done; None if there are no cameras.

        Drawn once for all workcells of a world, of a state of its own, with the calling thread's own context.
        """
        self._check_task(task)
        return self._world.goal_picture(self._draw_goal)

    def _draw_goal(self) -> Picture:
        scene = MujocoPlant(self._world, domain=DomainSpread())
        scene.show_goal()
        return np.ascontiguousarray(scene.capture(FRONT, goal_scene.DRAWN_PX)[goal_scene.CUT_OUT])

    def close(self) -> None:
        """Frees the calling thread's drawing context; the state goes with the plant."""
        self._world.close_thread()

    def _body_pose(self, body: int) -> Pose:
        return Pose(self._data.xpos[body].copy(), xyzw(self._data.xquat[body]))

    def _look(self) -> None:
        """Measures the present state and judges it. To be called once a state."""
        data, indices = self._data, self._world.indices
        in_world = {name: self._body_pose(body) for name, body in indices.object_bodies.items()}
        first_from_world = self._first.base.inverse()
        parts = {part: arm.measure() for part, arm in self._arms.items()}
        self._observation = Observation(
            stamp_ns=time.time_ns(),
            sim_time=float(data.time),
            parts=parts,
            objects={name: first_from_world @ pose for name, pose in in_world.items()},
            faults=(self._fault,) if self._fault else (),
        )
        held_by, touched = self._grasp()
        tools = {part: self._table_from_world @ arm.tool() for part, arm in self._arms.items()}
        first = self._capabilities.parts[0].name
        self._progress = self._judge.judge(
            SceneState(
                time=float(data.time),
                tool=tools[first],
                gripper=parts[first].gripper,
                objects={name: self._table_from_world @ pose for name, pose in in_world.items()},
                held=frozenset().union(*held_by.values()),
                touched=touched,
                tools=tools,
                held_by=held_by,
            )
        )

    def _grasp(self) -> tuple[dict[str, frozenset[str]], frozenset[str]]:
        """Returns the objects that every fingertip of a hand touches, by part, and those that any arm touches."""
        indices = self._world.indices
        bodies = indices.body_of_geom[self._data.contact.geom]
        held: dict[str, set[str]] = {part: set() for part in self._arms}
        touched = set()
        for name, body in indices.object_bodies.items():
            partners = np.concatenate([bodies[bodies[:, 0] == body, 1], bodies[bodies[:, 1] == body, 0]])
            if not indices.is_arm_body[partners].any():
                continue
            touched.add(name)
            for part, arm in self._arms.items():
                if arm.holds(partners):
                    held[part].add(name)
        return {part: frozenset(names) for part, names in held.items()}, frozenset(touched)
