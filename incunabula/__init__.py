"""Reinforcement-learning environments for board games about medieval books.

Importing this package registers its environments with Gymnasium; nothing heavier than Gymnasium is
loaded until an environment is made::

    import gymnasium
    env = gymnasium.make("incunabula:incunabula/Bibliogamo-v0")
"""

from gymnasium.envs.registration import register, registry

__version__ = "0.1.0"

__all__ = ["__version__", "register_envs"]

_ADAPTERS = "incunabula.envs.adapters.gymnasium"
_BIBLIOGAMO_EDITIONS = {
    "incunabula/Bibliogamo-v0": "bibliogamo",
    "incunabula/Bibliogamo-tiny-v0": "bibliogamo-tiny",
    "incunabula/Bibliogamo-small-v0": "bibliogamo-small",
}


def register_envs() -> None:
    """Register every environment id with Gymnasium. Safe to call again: known ids are kept."""
    for env_id, edition in _BIBLIOGAMO_EDITIONS.items():
        # Gymnasium warns when an id is registered twice, as after a reload or in a spawned worker.
        if env_id not in registry:
            register(
                id=env_id,
                entry_point=f"{_ADAPTERS}:BibliogamoEnv",
                vector_entry_point=f"{_ADAPTERS}:BibliogamoVectorEnv",
                kwargs={"edition": edition},
            )


register_envs()
