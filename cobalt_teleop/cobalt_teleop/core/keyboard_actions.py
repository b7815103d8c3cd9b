"""The actions of a keyboard operator: their bits on the wire and their keys, for page, terminal and help."""

from dataclasses import dataclass


@dataclass(frozen=True)
class KeyboardAction:
    """One action that a key asks for.

    Attributes:
        name: Stable; its place in ACTIONS is its bit in DeviceSample.buttons and its index in press_counts.
        label: For people.
        codes: Keys of a browser, by KeyboardEvent.code (place on the keyboard, whatever the layout).
        characters: Keys of a terminal.
        axis: 0 to 2 translate along x (away from the viewer), y (to his left), z (up) of the view; 3 to 5 turn
            about them; None for other actions.
        direction: 1 or -1 along the axis, 0 for other actions.
    """

    name: str
    label: str
    codes: tuple[str, ...]
    characters: tuple[str, ...]
    axis: int | None = None
    direction: int = 0


ACTIONS = (
    KeyboardAction('away', 'away', ('KeyW', 'ArrowUp'), ('w',), 0, 1),
    KeyboardAction('closer', 'closer', ('KeyS', 'ArrowDown'), ('s',), 0, -1),
    KeyboardAction('left', 'left', ('KeyA', 'ArrowLeft'), ('a',), 1, 1),
    KeyboardAction('right', 'right', ('KeyD', 'ArrowRight'), ('d',), 1, -1),
    KeyboardAction('up', 'up', ('KeyE', 'PageUp'), ('e',), 2, 1),
    KeyboardAction('down', 'down', ('KeyQ', 'PageDown'), ('q',), 2, -1),
    KeyboardAction('roll_left', 'roll left', ('KeyJ',), ('j',), 3, -1),
    KeyboardAction('roll_right', 'roll right', ('KeyL',), ('l',), 3, 1),
    KeyboardAction('pitch_up', 'tilt up', ('KeyI',), ('i',), 4, -1),
    KeyboardAction('pitch_down', 'tilt down', ('KeyK',), ('k',), 4, 1),
    KeyboardAction('yaw_left', 'turn left', ('KeyU',), ('u',), 5, 1),
    KeyboardAction('yaw_right', 'turn right', ('KeyO',), ('o',), 5, -1),
    KeyboardAction('gripper', 'open or close the gripper', ('Space',), (' ',)),
    KeyboardAction('slow', 'hold to move slowly', ('ShiftLeft', 'ShiftRight'), ()),
)

BITS = {action.name: 1 << index for index, action in enumerate(ACTIONS)}
MOTION_BITS = sum(BITS[action.name] for action in ACTIONS if action.axis is not None)
