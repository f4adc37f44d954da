"""What is installed, what importing it costs, and that a built wheel works on its own."""

import json
import os
import subprocess
import sys
import tomllib
import venv
import warnings
import zipfile
from pathlib import Path

import pytest
from gymnasium.envs.registration import registry

import incunabula

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ("agents", "configs", "envs", "training")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
GYMNASIUM = {
    "Bibliogamo": "incunabula.envs.adapters.gymnasium:Bibliogamo",
    "Scriptorium": "incunabula.agents.seat.gymnasium:Scriptorium",
}
IDS = {
    f"incunabula/{game}{size}-v0": f"{game.lower()}{size}"
    for game in GYMNASIUM
    for size in ("", "-tiny", "-small")
}


def python(code: str, executable: str | Path | None = None, cwd: Path | None = None) -> str:
    """What a fresh interpreter prints that runs `code` with warnings as errors; one of another
    environment finds nothing by way of this one's variables."""
    done = subprocess.run(
        [str(executable or sys.executable), "-W", "error", "-c", code],
        capture_output=True,
        text=True,
        encoding="utf-8",
        cwd=cwd,
        env=None if executable is None else on_its_own(),
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def on_its_own() -> dict[str, str]:
    """The environment's variables without those that tell Python where to look."""
    return {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}


def test_the_package_list_is_that_of_the_folders() -> None:
    found = ["incunabula"]
    for folder in FOLDERS:
        for init in (ROOT / folder).rglob("__init__.py"):
            found.append("incunabula." + ".".join(init.parent.relative_to(ROOT).parts))
    assert sorted(found) == sorted(PROJECT["tool"]["setuptools"]["packages"])


def test_every_python_file_belongs_to_a_package() -> None:
    for folder in FOLDERS:
        for file in (ROOT / folder).rglob("*.py"):
            assert (file.parent / "__init__.py").exists(), f"{file.parent} has no __init__.py"


def test_the_links_are_relative_and_right() -> None:
    links = {path.name: path for path in (ROOT / "incunabula").iterdir() if path.is_symlink()}
    assert sorted(links) == sorted(FOLDERS)
    for name, path in links.items():
        assert os.readlink(path) == f"../{name}"


def test_the_version_is_that_of_the_project() -> None:
    assert incunabula.__version__ == PROJECT["project"]["version"]
    command = [sys.executable, "-m", "incunabula", "--version"]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert printed == f"incunabula {incunabula.__version__}\n"


def test_importing_is_quick_and_loads_nothing_heavy() -> None:
    heavy = {"torch", "matplotlib", "numba", "pandas", "stable_baselines3", "pydantic"}
    heavy |= {"PIL", "pygame"}
    # Processor time: on a busy machine the clock on the wall says little.
    code = (
        "import sys, time; start = time.process_time(); import incunabula; "
        "print(time.process_time() - start); print(*sys.modules)"
    )
    runs = [python(code).split("\n", 1) for _ in range(5)]
    assert not heavy & set(runs[0][1].split())
    assert min(float(seconds) for seconds, _ in runs) < 0.5


def test_pictures_load_what_draws_them_when_they_are_drawn() -> None:
    code = (
        "import sys; from incunabula.envs import scriptorium_v0\n"
        "from incunabula.agents.seat.gymnasium import ScriptoriumEnv, ScriptoriumVectorEnv\n"
        "from incunabula.envs.adapters.gymnasium import BibliogamoEnv, BibliogamoVectorEnv\n"
        "from incunabula.envs.drawing import modes, pixels, svg, window\n"
        "env = BibliogamoEnv('bibliogamo-tiny', render_mode='ansi'); env.reset(seed=0)\n"
        "text, picture = env.render(), svg.to_svg(env.games.scene(0))\n"
        "env = BibliogamoEnv('bibliogamo-tiny', render_mode='rgb_array'); env.reset(seed=0)\n"
        "print(*sorted({'PIL', 'pygame', 'matplotlib'} & set(sys.modules)))\n"
        "env.render(); print(*sorted({'PIL', 'pygame', 'matplotlib'} & set(sys.modules)))"
    )
    assert python(code).split("\n") == ["", "PIL", ""]


def test_editions_need_the_core_dependencies_only() -> None:
    code = (
        "import sys\n"
        "for name in ('torch', 'stable_baselines3', 'matplotlib', 'numba', 'pettingzoo', 'PIL'):\n"
        "    sys.modules[name] = None\n"  # importing it now fails
        "sys.argv = ['incunabula', 'editions', 'check', 'bibliogamo']\n"
        "from incunabula.cli import main\n"
        "main()\n"
    )
    assert python(code).startswith("ok\n")


def test_the_ids_are_registered_once_without_a_warning() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        incunabula.register_envs()
    for env_id, edition in IDS.items():
        spec = registry[env_id]
        assert spec.kwargs == {"edition": edition}
        where = GYMNASIUM["Bibliogamo" if "Bibliogamo" in env_id else "Scriptorium"]
        assert spec.entry_point == f"{where}Env"
        assert spec.vector_entry_point == f"{where}VectorEnv"
    python("import gymnasium; gymnasium.make('incunabula:incunabula/Bibliogamo-v0').close()")


@pytest.mark.slow
def test_the_wheel_and_the_source_archive_hold_everything(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))  # some set it; what is built must not be found so
    # `build` makes the wheel from the source archive, so what the archive lacks shows here too.
    command = [sys.executable, "-m", "build", "--outdir", str(tmp_path), str(ROOT)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=on_its_own())
    assert done.returncode == 0, done.stdout + done.stderr
    (archive,) = tmp_path.glob("*.tar.gz")
    (wheel,) = tmp_path.glob("*.whl")

    names = set(zipfile.ZipFile(wheel).namelist())
    for folder in FOLDERS:
        for file in (ROOT / folder).rglob("*"):
            if file.is_file() and "__pycache__" not in file.parts:
                assert f"incunabula/{file.relative_to(ROOT).as_posix()}" in names
    assert "incunabula/py.typed" in names
    tops = {name.split("/", 1)[0] for name in names}
    assert tops == {"incunabula", f"incunabula-{incunabula.__version__}.dist-info"}

    # The dependencies come from the environment that runs the tests; the package itself must not,
    # which the place it was loaded from shows.
    code = (
        f"import json, sys; sys.path += {[p for p in sys.path if 'site-packages' in p]!r}; "
        "import incunabula; "
        "from incunabula.envs.editions import load_any_edition, shipped_editions; "
        "[load_any_edition(name) for name in shipped_editions()]; "
        "print(json.dumps([incunabula.__file__, shipped_editions()]))"
    )
    for number, built in enumerate((wheel, archive)):
        home = tmp_path / f"env{number}"
        venv.create(home, with_pip=False)
        (executable,) = (*home.glob("bin/python"), *home.glob("Scripts/python.exe"))
        pip = [sys.executable, "-m", "pip", "--python", str(executable), "install", "--quiet"]
        command = [*pip, "--no-deps", str(built)]
        subprocess.run(command, check=True, capture_output=True, env=on_its_own())
        where, shipped = json.loads(python(code, executable, cwd=tmp_path))
        assert Path(where).is_relative_to(home)
        assert sorted(shipped) == sorted(IDS.values())
