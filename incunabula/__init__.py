"""Reinforcement-learning environments for board games about medieval books.

Importing this package registers its environments with Gymnasium; nothing heavier than Gymnasium is
loaded until an environment is made::

    import gymnasium
    env = gymnasium.make("incunabula:incunabula/Bibliogamo-v0")
"""

from gymnasium.envs.registration import register, registry

__version__ = "0.1.0"

__all__ = ["__version__", "register_envs"]

# Id without its version, module and name of its environments, edition.
_ENVS = [
    (f"{game}{size}", f"{module}:{game}", f"{game.lower()}{size}")
    for game, module in (
        ("Bibliogamo", "incunabula.envs.adapters.gymnasium"),
        ("Scriptorium", "incunabula.agents.seat.gymnasium"),
    )
    for size in ("", "-tiny", "-small")
]


def register_envs() -> None:
    """Register every environment id with Gymnasium. Safe to call again: known ids are kept."""
    for name, entry_point, edition in _ENVS:
        env_id = f"incunabula/{name}-v0"
        # Gymnasium warns when an id is registered twice, as after a reload or in a spawned worker.
        if env_id not in registry:
            register(
                id=env_id,
                entry_point=f"{entry_point}Env",
                vector_entry_point=f"{entry_point}VectorEnv",
                kwargs={"edition": edition},
            )


register_envs()
