"""What Blender makes of a .glb: bones, keys and rate, and what is around them, as one JSON object on the last line.

    python tests/blender_import.py FILE.glb

Needs the package `bpy` (the Blender of PyPI). Blender counts in its own frames of 1/24 s unless told otherwise, so
keys are counted and their times given in seconds; comparing frame ranges would compare nothing.
"""

import json
import sys

import bpy


def curves_of(action):
    """Of an action with layers (Blender 4.4 and later) or without."""
    if getattr(action, "layers", None):
        bags = [bag for layer in action.layers for strip in layer.strips for bag in strip.channelbags]
        return [curve for bag in bags for curve in bag.fcurves]
    return list(action.fcurves)


def around(scene, fps, seconds):
    """What is not part of a character: where it is at the beginning, how far it gets, and its size in metres."""
    props = {}
    for thing in bpy.data.objects:
        if thing.type != "MESH" or any(m.type == "ARMATURE" for m in thing.modifiers) or thing.find_armature():
            continue
        # Blender also imports icospheres that stand for bones; nobody placed them.
        if thing.users_collection and thing.users_collection[0].name.startswith("glTF_not_exported"):
            continue
        places, sizes = [], []
        for frame in range(int(seconds * fps) + 1):
            scene.frame_set(frame)
            places.append(thing.matrix_world.translation.copy())
            sizes.append(max(thing.matrix_world.to_scale()[i] * thing.dimensions[i] / max(thing.scale[i], 1e-9) for i in range(3)))
        shown = [i for i, size in enumerate(sizes) if size > 1e-3]
        gone = max(((places[i] - places[shown[0]]).length for i in shown), default=0.0) if shown else 0.0
        props[thing.name] = {
            "at": [round(v, 2) for v in places[shown[0]]] if shown else None,
            "gone_m": round(gone, 2),
            "size_m": round(max(sizes), 2),
            "shown_share": round(len(shown) / len(places), 2),
        }
    return props


def main(path):
    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.ops.import_scene.gltf(filepath=path)
    scene = bpy.context.scene
    fps = scene.render.fps / scene.render.fps_base
    armatures = [o for o in bpy.data.objects if o.type == "ARMATURE"]
    meshes = [o for o in bpy.data.objects if o.type == "MESH" and any(m.type == "ARMATURE" for m in o.modifiers)]
    curves = [c for action in bpy.data.actions for c in curves_of(action)]
    # Balls have keys of their own.
    bones = [c for c in curves if c.data_path.startswith("pose.bones")] or curves
    times = sorted({round(p.co[0] / fps, 6) for c in bones for p in c.keyframe_points})
    keys = max((len(c.keyframe_points) for c in bones), default=0)
    span = times[-1] - times[0] if times else 0.0
    heights = []
    for mesh in meshes:
        evaluated = mesh.evaluated_get(bpy.context.evaluated_depsgraph_get())
        corners = [evaluated.matrix_world @ v.co for v in evaluated.to_mesh().vertices]
        heights.append(max(c.z for c in corners) - min(c.z for c in corners))
    props = around(scene, fps, times[-1] if times else 0.0)
    print(json.dumps({
        "props": props,
        "armatures": sorted(o.name for o in armatures),
        "bones": sum(len(o.data.bones) for o in armatures),
        "meshes": len(meshes),
        "heights_m": [round(h, 3) for h in heights],
        "actions": len(bpy.data.actions),
        "curves": len(curves),
        "keys": keys,
        "fps": round((keys - 1) / span, 3) if span > 0 else None,
        "seconds": round(span, 4),
    }))


main(sys.argv[1])
