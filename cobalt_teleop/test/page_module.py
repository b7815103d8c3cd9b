"""Evaluates the page's pure modules without a browser, by the JavaScript engine that comes with playwright."""

import json
import subprocess
from pathlib import Path

from playwright._impl._driver import compute_driver_executable

from cobalt_teleop import bridge

WEB = Path(bridge.__file__).parent / 'web'


def evaluate(module, body, **values):
    """Returns what a function body returns that sees a module as `m` and values by their names."""
    script = (
        f'const m = await import({json.dumps((WEB / module).as_uri())});\n'
        f'const {{ {", ".join(values)} }} = {json.dumps(values)};\n'
        f'const result = await (async () => {{ {body} }})();\n'
        'console.log(JSON.stringify(result));\n'
    )
    node = compute_driver_executable()[0]
    done = subprocess.run(
        [node, '--input-type=module', '-'], input=script, capture_output=True, text=True, timeout=30, check=False
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)
