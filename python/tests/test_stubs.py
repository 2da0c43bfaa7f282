"""The stubs name what there is, with the same arguments; calls let other threads go on."""

import ast
import inspect
import pathlib
import threading
import time

import numpy as np

import rl4rla


def test_stubs_have_the_names_and_arguments_of_the_package():
    tree = ast.parse(pathlib.Path(rl4rla.__file__).with_suffix(".pyi").read_text())
    found = {node.name: node for node in tree.body if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
    assert set(found) | {"__version__"} == set(rl4rla.__all__)
    for name, node in found.items():
        if isinstance(node, ast.FunctionDef):
            parameters = inspect.signature(getattr(rl4rla, name)).parameters.values()
            real = [one.name for one in parameters if one.kind != one.VAR_KEYWORD]
            assert [one.arg for one in node.args.args + node.args.kwonlyargs] == real, name


def test_stubs_have_the_methods_and_properties_of_classes():
    tree = ast.parse(pathlib.Path(rl4rla.__file__).with_suffix(".pyi").read_text())
    for node in (node for node in tree.body if isinstance(node, ast.ClassDef)):
        real = {name: value for name, value in vars(getattr(rl4rla, node.name)).items() if not name.startswith("_")}
        stubs = {one.name: one for one in node.body if isinstance(one, ast.FunctionDef) and not one.name.startswith("_")}
        assert set(real) == set(stubs), node.name
        for name, stub in stubs.items():
            assert real[name].__doc__, f"{node.name}.{name}"
            is_property = any(getattr(one, "id", None) == "property" for one in stub.decorator_list)
            assert is_property == isinstance(real[name], property), f"{node.name}.{name}"
            if not is_property:
                function = getattr(real[name], "__func__", real[name])
                parameters = inspect.signature(function).parameters.values()
                arguments = [one.name for one in parameters if one.kind != one.VAR_KEYWORD]
                assert [one.arg for one in stub.args.args + stub.args.kwonlyargs] == arguments, f"{node.name}.{name}"


def test_everything_has_a_docstring():
    for name in set(rl4rla.__all__) - {"__version__"}:
        assert getattr(rl4rla, name).__doc__, name


def test_other_threads_go_on_while_data_are_solved():
    rng = np.random.default_rng(0)
    A, b = rng.normal(size=(20000, 300)), rng.normal(size=20000)
    ticks, done = [], threading.Event()

    def tick():
        while not done.is_set():
            ticks.append(time.monotonic())
            time.sleep(0.001)

    thread = threading.Thread(target=tick)
    thread.start()
    begun = time.monotonic()
    rl4rla.solve(A, b, "qr-refinement", threads=1)
    ended = time.monotonic()
    done.set()
    thread.join()
    during = [at for at in ticks if begun < at < ended]
    assert len(during) > 3, f"{len(during)} ticks in {ended - begun:.3f} s"
