"""`cobalt bag report`: one page that holds all, whatever the bag's texts are."""

import argparse
import json
import math
import re
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest
from small_bag import write_bag

from cobalt_recorder import bag_command
from cobalt_recorder.judge import judge_bag
from cobalt_recorder.report.data_set_page import data_set_page
from cobalt_recorder.report.svg_plot import Series, line_plot
from cobalt_recorder.rules_file import load_rules, shipped_rules
from cobalt_recorder.verdict_file import read_verdict

_VOID = {'meta', 'img', 'br', 'circle', 'line', 'path'}


class _Page(HTMLParser):
    """Checks that every tag is closed; collects what the page would load, and its text."""

    def __init__(self, content):
        super().__init__()
        self.open, self.loads, self.tags, self.words = [], [], [], []
        self.feed(content)
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.loads += [value for name, value in attributes if name in ('src', 'href')]
        if tag not in _VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.tags.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.words.append(data)


def run(*arguments):
    parser = argparse.ArgumentParser()
    bag_command.add_parser(parser.add_subparsers())
    parsed = parser.parse_args(['bag', 'report', *map(str, arguments)])
    return parsed.func(parsed)


def test_an_episode(tmp_path, capsys):
    write_bag(tmp_path / 'one')
    assert run(tmp_path / 'one', '-o', tmp_path / 'page.html') == 0
    assert f'{tmp_path / "page.html"} (' in capsys.readouterr().out
    page = _Page((tmp_path / 'page.html').read_text())
    words = ' '.join(page.words)
    for expected in (
        'lift',
        'one',
        'ACCEPT',
        'arm: speed',
        'arm: path from above',
        'robot_sparc',
        'Time between ticks',
    ):
        assert expected in words
    assert page.tags.count('img') == 8
    assert all(address.startswith('data:image/jpeg') for address in page.loads)
    assert 'script' not in page.tags


def test_a_data_set(tmp_path, capsys):
    for name in ('one', 'two'):
        write_bag(tmp_path / 'set' / 'lift' / name)
    write_bag(tmp_path / 'set' / 'lift' / 'three', skip_rows=(5,))
    broken = tmp_path / 'set' / 'lift' / 'broken'
    broken.mkdir()
    (broken / 'broken_0.mcap').write_bytes(b'noise')
    assert run(tmp_path / 'set', '-o', tmp_path / 'page.html', '--json') == 1
    shown = json.loads(capsys.readouterr().out)
    assert [failed['path'] for failed in shown['failed']] == [str(broken)]
    words = ' '.join(_Page((tmp_path / 'page.html').read_text()).words)
    for expected in ('one', 'two', 'three', '1 ticks of the episode are not in the bag', 'robot_path_length', 'median'):
        assert expected in words


def test_a_page_lies_beside_what_it_is_of(tmp_path, monkeypatch, capsys):
    file = write_bag(tmp_path / 'set' / 'lift' / 'one')
    elsewhere = tmp_path / 'elsewhere'
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    for path, page in (
        (file, file.parent / 'report.html'),
        (file.parent, file.parent / 'report.html'),
        (tmp_path / 'set', tmp_path / 'set' / 'report.html'),
    ):
        assert run(path) == 0
        assert capsys.readouterr().out.startswith(f'{page} (')
        page.unlink()
    assert not list(elsewhere.iterdir())


def test_outliers_are_named(tmp_path):
    write_bag(tmp_path / 'one')
    _, verdict = judge_bag(tmp_path / 'one', load_rules(shipped_rules()))
    assert verdict.judged.verdict == 'ACCEPT'

    def with_duration(index, value):
        metrics = tuple(
            replace(metric, value=value) if metric.name == 'duration' else metric for metric in verdict.judged.metrics
        )
        return replace(verdict, episode_id=f'episode_{index}', judged=replace(verdict.judged, metrics=metrics))

    page = data_set_page('set', [with_duration(index, 3.0 + 0.1 * (index % 3)) for index in range(9)])
    assert 'None, or too few accepted episodes to tell' in page
    page = data_set_page('set', [with_duration(index, 3.0 if index else 60.0) for index in range(9)])
    assert re.search(r'episode_0</td>.*duration</td><td class="number">60 s</td>', page)


def test_who_drove_and_what_the_rules_say_of_each(tmp_path):
    write_bag(tmp_path / 'one')
    _, verdict = judge_bag(tmp_path / 'one', load_rules(shipped_rules()))
    shaky = replace(verdict.judged, verdict='REVIEW', tip='Rest your arm on something.')
    episodes = [replace(verdict, operator_id='even') for _ in range(3)]
    episodes += [replace(verdict, operator_id='shaky', judged=shaky) for _ in range(2)]
    page = data_set_page('set', [*episodes, replace(verdict, operator_id='')])
    who = page[page.index('who drove') : page.index('unusual among')]
    rows = [re.findall(r'<td[^>]*>([^<]*)</td>', row) for row in re.findall(r'<tr[^>]*>(.*?)</tr>', who)]
    assert [row for row in rows if row] == [
        ['even', '3', '3', '0', '3', '0', '0', ''],
        ['shaky', '2', '2', '0', '0', '2', '0', 'Rest your arm on something.'],
        ['unknown', '1', '1', '0', '1', '0', '0', ''],
    ]


def test_texts_of_a_bag_stay_texts(tmp_path):
    write_bag(tmp_path / 'one')
    _, verdict = judge_bag(tmp_path / 'one', load_rules(shipped_rules()))
    nasty = '<script>alert(1)</script>'
    hostile = replace(
        verdict, task=nasty, episode_id=nasty, judged=replace(verdict.judged, reasons=(nasty,), tip=nasty)
    )
    page = data_set_page(nasty, [hostile])
    assert '<script' not in page
    assert nasty in ''.join(_Page(page).words)


def test_a_verdict_of_the_recorder_is_kept(tmp_path):
    write_bag(tmp_path / 'one')
    _, verdict = judge_bag(tmp_path / 'one', load_rules(shipped_rules()))
    replace(verdict, judged=replace(verdict.judged, verdict='REVIEW', reasons=('as it was judged',))).write(
        tmp_path / 'one'
    )
    assert read_verdict(tmp_path / 'one').judged.reasons == ('as it was judged',)
    assert run(tmp_path / 'one', '-o', tmp_path / 'page.html') == 0
    assert 'as it was judged' in (tmp_path / 'page.html').read_text()


def test_nothing_to_report(tmp_path, capsys):
    assert run(tmp_path / 'none') == 1
    assert 'holds no bag' in capsys.readouterr().err


def numbers(plot, attribute):
    return [float(value) for value in re.findall(rf'{attribute}="([0-9.]+)"', plot)]


def test_dots_lie_where_they_belong():
    plot = line_plot('a', 'x', 'y', [Series('one', [0.0, 1.0, 2.0], [0.0, 5.0, 10.0], dots=True)])
    xs, ys = numbers(plot, 'cx'), numbers(plot, 'cy')
    assert xs[1] == pytest.approx((xs[0] + xs[2]) / 2, abs=0.1)
    assert ys[0] > ys[1] > ys[2]
    assert '>10<' in plot


def test_a_line_breaks_where_there_is_no_number():
    plot = line_plot('a', 'x', 'y', [Series('one', np.arange(5), [0.0, 1.0, math.nan, 1.0, 2.0])])
    (path,) = re.findall(r'd="([^"]*)"', plot)
    assert path.count('M') == 2
    assert path.count('L') == 2


@pytest.mark.parametrize('y', [[], [math.nan] * 3])
def test_nothing_to_plot(y):
    assert 'No figures.' in line_plot('a', 'x', 'y', [Series('one', np.arange(len(y)), y)])


@pytest.mark.parametrize('y', [[3.0], [0.0, 0.0], [1e-9, 2e-9], [-1e9, 1e9]])
def test_any_range_has_ticks(y):
    plot = line_plot('<a>', 'x', 'y', [Series('one', np.arange(len(y)), y)])
    assert '<a>' not in plot
    assert plot.count('<text') >= 6


def test_on_equal_axes_a_square_is_a_square():
    square = Series('one', [0.0, 1.0, 1.0, 0.0], [0.0, 0.0, 1.0, 1.0], dots=True)
    plot = line_plot('a', 'x', 'y', [square], equal=True)
    xs, ys = numbers(plot, 'cx'), numbers(plot, 'cy')
    assert max(xs) - min(xs) == pytest.approx(max(ys) - min(ys), abs=0.2)
