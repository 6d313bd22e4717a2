"""Ratios of counts: a workload with an empty baseline has none."""

from warpreg.evaluation.studies.ratios import mean_ratio, ratio


def test_a_workload_whose_whole_is_nothing_is_left_out_of_the_mean() -> None:
    assert mean_ratio([(1, 2), (3, 2), (5, 0)]) == 1
    assert mean_ratio([(1, 0)]) == 0
    assert ratio(1, 0) == 0
