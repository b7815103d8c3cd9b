from cobalt_recorder.topic_count import TopicCount


def test_gaps_of_each_publisher_are_losses():
    count = TopicCount()
    for publisher, sequence in [(b'a', 5), (b'b', 900), (b'a', 6), (b'a', 9), (b'b', 901)]:
        count.note(publisher, sequence)
    assert (count.received, count.lost, count.expected) == (5, 2, 7)


def test_joining_late_and_a_restarted_publisher_are_no_losses():
    count = TopicCount()
    for sequence in (100, 101, 1, 2):
        count.note(b'a', sequence)
    assert count.lost == 0


def test_middleware_without_numbers():
    count = TopicCount()
    for sequence in (None, 2**64 - 1, None):
        count.note(b'', sequence)
    assert (count.received, count.lost) == (3, 0)


def test_refused_messages_are_dropped_but_were_expected():
    count = TopicCount()
    for sequence in (1, 2, 4):
        count.note(b'a', sequence)
    count.refused = 1
    assert count.as_facts() == {'expected': 4, 'received': 3, 'dropped': 2}
