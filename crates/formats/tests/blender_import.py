"""What Blender makes of a .glb: bones, keys and rate, as one JSON object on the last line.

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


def main(path):
    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.ops.import_scene.gltf(filepath=path)
    scene = bpy.context.scene
    fps = scene.render.fps / scene.render.fps_base
    armatures = [o for o in bpy.data.objects if o.type == "ARMATURE"]
    meshes = [o for o in bpy.data.objects if o.type == "MESH" and any(m.type == "ARMATURE" for m in o.modifiers)]
    curves = [c for action in bpy.data.actions for c in curves_of(action)]
    times = sorted({round(p.co[0] / fps, 6) for c in curves for p in c.keyframe_points})
    keys = max((len(c.keyframe_points) for c in curves), default=0)
    span = times[-1] - times[0] if times else 0.0
    heights = []
    for mesh in meshes:
        evaluated = mesh.evaluated_get(bpy.context.evaluated_depsgraph_get())
        corners = [evaluated.matrix_world @ v.co for v in evaluated.to_mesh().vertices]
        heights.append(max(c.z for c in corners) - min(c.z for c in corners))
    print(json.dumps({
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
