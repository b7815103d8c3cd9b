"""The line under the key map of the terminal back end: who holds control, which keys are down, why the arm holds."""

import shutil

from cobalt_devices.local_control import GIVES_WAY_S
from cobalt_interfaces.msg import PartStep
from cobalt_teleop.core.keyboard_actions import ACTIONS

HOLD_REASONS = {
    PartStep.HOLD_NONE: 'moves by your keys',
    PartStep.HOLD_NO_COMMAND: 'holds: no command has arrived yet',
    PartStep.HOLD_NOT_ENGAGED: 'holds: press a key to move',
    PartStep.HOLD_STALE: 'holds: commands came too late, press again',
    PartStep.HOLD_NOT_TRACKED: 'holds: the device does not work',
    PartStep.HOLD_NO_LEASE: 'holds: nobody has control',
    PartStep.HOLD_FOREIGN_LEASE: 'holds: somebody else has control',
    PartStep.HOLD_FOREIGN_PUBLISHER: 'holds: another device has control',
    PartStep.HOLD_INVALID: 'holds: the command was invalid',
    PartStep.HOLD_JUMP: 'holds: the command jumped, press again',
    PartStep.HOLD_REENGAGE: 'holds: release all keys and press again',
    PartStep.HOLD_EMERGENCY_STOP: 'holds: EMERGENCY STOP',
    PartStep.HOLD_AUTHORITY: 'holds: set to hold',
    PartStep.HOLD_RESETTING: 'holds: the workcell is being reset',
    PartStep.HOLD_FAULT: 'holds: the robot reports a fault',
    PartStep.HOLD_FRAME_STALE: 'holds: the picture is too old',
    PartStep.HOLD_UNSUPPORTED: 'holds: the host does not follow this kind of command',
    PartStep.HOLD_BLOCKED: 'holds: something blocks it; let go, then move away from it',
}


def status_line(
    *,
    workcell_id: str,
    buttons: int,
    has_lease: bool,
    holder: str,
    refusal: str,
    hold_reason: int | None,
    must_rest: bool = False,
    requested_by: str = '',
) -> str:
    """Returns one line, not wider than the terminal.

    Args:
        workcell_id: Empty if none was found yet.
        buttons: Bits of held actions.
        has_lease: This terminal has control.
        holder: Who has control.
        refusal: Why the host refused control.
        hold_reason: PartStep.HOLD_*; None if no tick was seen yet.
        requested_by: Who asks for control.
        must_rest: Keys count only once none was pressed for a second.
    """
    if not workcell_id:
        return 'waiting for a workcell: is its host (sim_node) running?'
    if has_lease and requested_by:
        control = f'{requested_by} asks for control: press nothing for {GIVES_WAY_S:g} s to give it'
    elif has_lease:
        control = 'you have control'
    elif refusal:
        control = f'no control: {refusal}'
    else:
        control = f'{holder} has control' if holder else 'nobody has control: press a key for it'
    held = ', '.join(action.label for index, action in enumerate(ACTIONS) if buttons >> index & 1) or 'none'
    arm = '' if hold_reason is None else f' | arm {HOLD_REASONS.get(hold_reason, f"holds: reason {hold_reason}")}'
    if must_rest and hold_reason not in (PartStep.HOLD_EMERGENCY_STOP, PartStep.HOLD_FAULT):
        arm = ' | arm holds: release all keys for 1 s'
    line = f'{workcell_id} | {control} | keys: {held}{arm}'[: shutil.get_terminal_size().columns - 1]
    # Names and reasons come from others, and must not steer the terminal.
    return ''.join(character if character.isprintable() else ' ' for character in line)
