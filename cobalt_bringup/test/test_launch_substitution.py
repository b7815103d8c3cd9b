import pytest

from cobalt_bringup.launch_substitution import SubstitutionError, Values, substitute

VALUES = Values(
    variables={'name': 'env_0', 'inner': 'name'},
    environment={'HOME': '/root'},
    directory='/launch',
    find_share=lambda package: f'/share/{package}',
)


@pytest.mark.parametrize(
    ('text', 'expected'),
    [
        ('', ''),
        ('plain $ text', 'plain $ text'),
        ('$(var name)', 'env_0'),
        ('a/$(var name)/b', 'a/env_0/b'),
        ('$(var $(var inner))', 'env_0'),
        ('$(env HOME)', '/root'),
        ('$(env MISSING default)', 'default'),
        ("$(env MISSING 'two words')", 'two words'),
        ('$(env MISSING "$(var name)/x")', 'env_0/x'),
        ('$(env MISSING $(find-pkg-share cobalt)/a.xml)', '/share/cobalt/a.xml'),
        ('$(dirname)/x.xml', '/launch/x.xml'),
        (r'\$(var name)', '$(var name)'),
    ],
)
def test_values(text, expected):
    assert substitute(text, VALUES) == expected


@pytest.mark.parametrize(
    ('text', 'message'),
    [
        ('$(var missing)', "no variable 'missing'; known: inner, name"),
        ('$(env MISSING)', "no environment variable 'MISSING'"),
        ('$(eval 1 + 1)', r"'\$\(eval 1 \+ 1\)' is not in the part .* \$\(var\)"),
        ('$(var name', 'is not closed'),
        ('$(var)', 'has 0 arguments, but takes 1 to 2'),
        ('$()', 'is not in the part'),
    ],
)
def test_errors(text, message):
    with pytest.raises(SubstitutionError, match=message):
        substitute(text, VALUES)
