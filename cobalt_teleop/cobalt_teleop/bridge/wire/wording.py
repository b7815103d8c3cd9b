"""The words in which a page tells what the robot's messages say by numbers."""

from cobalt_interfaces.msg import ControlStep, EpisodeState, PartStep, QualityReport, RecordingState

HOLD = {
    PartStep.HOLD_NONE: '',
    PartStep.HOLD_NO_COMMAND: 'no command has come: nothing at the robot listens to this device (devices:=none?)',
    PartStep.HOLD_NOT_ENGAGED: 'nothing is pressed',
    PartStep.HOLD_STALE: 'commands stopped arriving; let go and press again',
    PartStep.HOLD_NOT_TRACKED: 'the device lost its tracking',
    PartStep.HOLD_NO_LEASE: 'nobody has control',
    PartStep.HOLD_FOREIGN_LEASE: 'a command came from somebody who does not have control',
    PartStep.HOLD_FOREIGN_PUBLISHER: 'a command came from a device that control is not bound to',
    PartStep.HOLD_INVALID: 'an invalid command arrived',
    PartStep.HOLD_JUMP: 'the command jumped; let go and press again',
    PartStep.HOLD_REENGAGE: 'let go, then press again',
    PartStep.HOLD_EMERGENCY_STOP: 'emergency stop',
    PartStep.HOLD_AUTHORITY: 'the workcell is set to hold',
    PartStep.HOLD_RESETTING: 'the workcell is being reset',
    PartStep.HOLD_FAULT: 'the robot reports a fault',
    PartStep.HOLD_FRAME_STALE: 'you had no live picture; let go and press again',
    PartStep.HOLD_UNSUPPORTED: 'this robot does not follow such commands',
    PartStep.HOLD_BLOCKED: 'something blocks the arm; let go, then press again and move away from it',
}

LOCAL_DEVICE = {
    'keyboard': 'a terminal',
    'spacemouse': "the SpaceMouse of the robot's computer",
    'pose_adapter': 'a tracker',
}
"""What drives without a page, by the source of its commands."""

LIMITS = {
    PartStep.LIMIT_WORKSPACE_BOX: 'edge of the workspace',
    PartStep.LIMIT_LINEAR_SPEED: 'top speed',
    PartStep.LIMIT_ANGULAR_SPEED: 'top turning speed',
    PartStep.LIMIT_LINEAR_ACCELERATION: 'speeding up gently',
    PartStep.LIMIT_ANGULAR_ACCELERATION: 'turning up gently',
    PartStep.LIMIT_JOINT_POSITION: 'a joint is at its end',
    PartStep.LIMIT_JOINT_SPEED: 'a joint is at top speed',
    PartStep.LIMIT_JOINT_ACCELERATION: 'a joint speeds up gently',
    PartStep.LIMIT_SINGULARITY: 'slow near a stretched posture',
    PartStep.LIMIT_IK_RESIDUAL: 'out of reach',
    PartStep.LIMIT_GRIPPER_RANGE: 'gripper at its end',
    PartStep.LIMIT_COMMAND_REJECTED: 'an invalid command was ignored',
}

AUTHORITY = {
    ControlStep.AUTHORITY_HOLD: 'hold',
    ControlStep.AUTHORITY_HUMAN: 'human',
    ControlStep.AUTHORITY_POLICY: 'policy',
    ControlStep.AUTHORITY_HOMING: 'homing',
}

PHASE = {
    EpisodeState.PHASE_IDLE: 'idle',
    EpisodeState.PHASE_PREPARING: 'preparing',
    EpisodeState.PHASE_RUNNING: 'running',
    EpisodeState.PHASE_PAUSED: 'paused',
    EpisodeState.PHASE_ENDING: 'ending',
    EpisodeState.PHASE_ENDED: 'ended',
}

OUTCOME = {
    EpisodeState.OUTCOME_UNKNOWN: 'unknown',
    EpisodeState.OUTCOME_SUCCESS: 'success',
    EpisodeState.OUTCOME_FAILURE: 'failure',
    EpisodeState.OUTCOME_TIMEOUT: 'timeout',
    EpisodeState.OUTCOME_ABORTED: 'aborted',
    EpisodeState.OUTCOME_DISCARDED: 'discarded',
}

OUTCOME_SOURCE = {
    EpisodeState.OUTCOME_SOURCE_PREDICATE: 'predicate',
    EpisodeState.OUTCOME_SOURCE_OPERATOR: 'operator',
    EpisodeState.OUTCOME_SOURCE_REVIEWER: 'reviewer',
}

RECORDING = {
    RecordingState.STATE_IDLE: 'idle',
    RecordingState.STATE_PREPARING: 'preparing',
    RecordingState.STATE_READY: 'ready',
    RecordingState.STATE_RECORDING: 'recording',
    RecordingState.STATE_FINALISING: 'finalising',
    RecordingState.STATE_SAVED: 'saved',
    RecordingState.STATE_FAILED: 'failed',
}

VERDICT = {
    QualityReport.VERDICT_UNKNOWN: 'unknown',
    QualityReport.VERDICT_ACCEPT: 'accept',
    QualityReport.VERDICT_REVIEW: 'review',
    QualityReport.VERDICT_REJECT: 'reject',
}


def limit_words(limits: int) -> list[str]:
    """Returns the words of each bit of PartStep.limits."""
    return [words for bit, words in LIMITS.items() if limits & bit]
