"""A body of capsules and sprung ball joints that falls on a plane, in MuJoCo: the peer of the bench `impact`.

Reads the parts from a JSON file, as the bench writes them: frames are those of the rest pose, y up. Prints one JSON object:
microseconds of CPU time a step, best of several runs, where the pelvis comes to lie, and how many links there are.
"""
import json
import sys
import time

import mujoco


def vector(v):
    # MuJoCo has z up.
    return f"{v[0]} {-v[2]} {v[1]}"


def body(parts, index):
    part = parts[index]
    children = [k for k in range(1, len(parts)) if parts[k]["parent"] == index]
    if index == 0:
        joint = "<freejoint/>"
    else:
        joint = f'<joint type="ball" stiffness="{part["hold"][0]}" damping="{part["hold"][1]}"/>'
    # Inertia across, along and across the bone: MuJoCo is told of the bone by a frame whose z is along it.
    across, along = part["inertia"][0], part["inertia"][1]
    ends = [part["ends"][0], part["ends"][1]]
    long = sum((a - b) ** 2 for a, b in zip(*ends)) > 1e-4
    # A head is a ball.
    shape = f'type="capsule" fromto="{vector(ends[0])} {vector(ends[1])}"' if long else f'type="sphere" pos="{vector(ends[0])}"'
    return (
        f'<body pos="{vector(part["offset"])}">{joint}'
        f'<inertial pos="{vector(part["centre"])}" mass="{part["mass"]}" {frame(part["bone"])}'
        f' diaginertia="{across} {across} {along}"/>'
        f'<geom {shape} size="{part["radius"]}"'
        f' contype="1" conaffinity="2" friction="0.8"/>' + "".join(body(parts, k) for k in children) + "</body>"
    )


def frame(bone):
    # The shortest turn of z onto the bone, as a quaternion w x y z.
    x, y, z = bone[0], -bone[2], bone[1]
    w, i, j = 1.0 + z, -y, x
    if w < 1e-6:
        w, i, j = 0.0, 1.0, 0.0
    size = (w * w + i * i + j * j) ** 0.5
    return f'quat="{w / size} {i / size} {j / size} 0"'


def main():
    scene = json.load(open(sys.argv[1]))
    xml = (
        f'<mujoco><option timestep="{scene["seconds"]}" integrator="implicitfast"/><worldbody>'
        f'<geom type="plane" size="10 10 .1" contype="2" conaffinity="1" friction="0.8"/>{body(scene["parts"], 0)}'
        f"</worldbody></mujoco>"
    )
    model = mujoco.MjModel.from_xml_string(xml)
    best, height = float("inf"), 0.0
    for _ in range(20):
        data = mujoco.MjData(model)
        vx, vy, vz = scene["speed"]
        data.qvel[:3] = [vx, -vz, vy]
        start = time.process_time()
        mujoco.mj_step(model, data, nstep=scene["steps"])
        best = min(best, (time.process_time() - start) / scene["steps"])
        height = float(data.qpos[2])
    print(json.dumps({"mujoco": mujoco.__version__, "us": 1e6 * best, "height": height, "links": model.nbody - 1}))


if __name__ == "__main__":
    main()
