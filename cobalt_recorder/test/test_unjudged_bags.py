from small_bag import write_bag

from cobalt_recorder.bag_writer import BagWriter
from cobalt_recorder.unjudged_bags import unjudged_bags

FACTS = {'recorder_version': '1', 'episode_id': 'left', 'workcell_id': 'env_0', 'task': 'lift'}


def test_bags_of_cobalt_that_nobody_writes_or_judged_are_found(tmp_path):
    left = BagWriter(tmp_path / 'lift' / 'left', FACTS)
    left.close('cobalt.end', {}, {'outcome': 'SUCCESS'})
    judged = BagWriter(tmp_path / 'lift' / 'judged', FACTS)
    judged.close('cobalt.end', {}, {})
    (judged.folder / 'verdict.json').write_text('{}')
    write_bag(tmp_path / 'lift' / 'of_others')
    open_bag = BagWriter(tmp_path / 'lift' / 'open', FACTS)
    (found,) = unjudged_bags(tmp_path)
    assert (found.folder, found.workcell_id, found.task, found.outcome) == (left.folder, 'env_0', 'lift', 'SUCCESS')
    open_bag.close('cobalt.end', {}, {})
    assert len(list(unjudged_bags(tmp_path))) == 2
