"""The key map in words, from the one table of actions."""

from cobalt_devices.terminal_keys import SEQUENCES
from cobalt_teleop.core.keyboard_actions import ACTIONS


def _browser_name(code: str) -> str:
    name = code.removeprefix('Key').removesuffix('Left').removesuffix('Right') if 'Arrow' not in code else code
    return name.replace('Arrow', 'arrow ').replace('Page', 'page ').lower()


def key_map() -> str:
    """Returns one line for each action: what it does, its keys in the browser and in a terminal."""
    lines = [f'  {"action":<27}{"in the browser":<27}in a terminal']
    for action in ACTIONS:
        browser = ' or '.join(dict.fromkeys(_browser_name(code) for code in action.codes))
        own = ['space' if key == ' ' else key for key in action.characters]
        terminal = ' or '.join(own + [_browser_name(code) for code in action.codes if code in SEQUENCES.values()])
        if action.name == 'slow':
            terminal = 'capital letters'
        lines.append(f'  {action.label:<27}{browser:<27}{terminal}')
    lines.append(f'  {"give control back, end":<27}{"":<27}Esc or Ctrl-C')
    return '\n'.join(lines)
