"""steelyard completion: the script that lets a shell complete the command line."""

from __future__ import annotations

from typing import Annotated

import typer

from steelyard.cli import show
from steelyard.cli.options import Json
from steelyard.foundation.errors import SettingError, did_you_mean

EXAMPLE = (
    'Example (bash, in ~/.bashrc): eval "$(steelyard completion bash)"\n\n'
    "Example (fish): steelyard completion fish | source"
)
BASH = """\
_steelyard() {
    local line="${COMP_LINE:0:COMP_POINT}" word cut
    cut="${line##*[[:space:]]}"
    cut="${cut%"${cut##*[:=]}"}"
    COMPREPLY=()
    while IFS= read -r word; do
        COMPREPLY+=("${word#"$cut"}")
    done < <(_STEELYARD_COMPLETE="$line" "$1" 2>/dev/null)
}
complete -o default -o bashdefault -F _steelyard steelyard"""
ZSH = """\
#compdef steelyard
_steelyard() {
    local -a found
    found=("${(@f)$(_STEELYARD_COMPLETE="${(j: :)words[1,CURRENT]}" steelyard 2>/dev/null)}")
    if [[ -n "${found[1]}" ]]; then compadd -a found; else _files; fi
}
compdef _steelyard steelyard"""
FISH = """\
function __steelyard
    set -l found (env _STEELYARD_COMPLETE=(commandline -cp | string collect) steelyard 2>/dev/null)
    if test (count $found) -gt 0
        printf '%s\\n' $found
    else
        __fish_complete_path (commandline -ct)
    end
end
complete -c steelyard -f -a '(__steelyard)'"""
SCRIPTS = {"bash": BASH, "zsh": ZSH, "fish": FISH}


def run(
    shell: Annotated[str, typer.Argument(metavar="SHELL", help="bash, zsh or fish.", show_default=False)],
    json: Json = False,
) -> None:
    """Print the script with which a shell completes verbs, options, files and names."""
    if shell not in SCRIPTS:
        raise SettingError(f"there is no completion for {shell!r}: {did_you_mean(shell, SCRIPTS)}")
    if json:
        show.as_json({"shell": shell, "script": SCRIPTS[shell]})
        return
    print(SCRIPTS[shell])
