/*
The replay viewer: plays recorded characters in one self-contained page.

Data: the JSON in the element "kumite-data". World axes: right-handed, +Y up, +Z forward, metres; time in seconds from
the first frame; quaternions x y z w. Base64 fields are little-endian arrays, frame by frame, joint by joint.
Fields marked ? may be left out.

{ version: 1, title, fps, frames,           frames on the shared clock; the take lasts (frames - 1) / fps seconds
  note?,                                    one line shown beside the title
  floor?: 0,                                height of the ground
  characters: [{
    name, color?: "#rrggbb",                its own colour, in lists and trails
    colors?: ["#rrggbb"...],                of its parts, by group; made from `color` if left out
    joints: [name...], parents: [index, -1 for the root...],
    start?: 0,                              frame of the shared clock at which this character's first frame falls;
                                            outside its own frames the nearest pose is held
    root: Float32 x 3 per frame,            world position of joint 0
    positions: Int16 x 3 per joint,         world position minus `root`, in units of `step`
    step?: 0.0001,                          metres per unit (0.0001 reaches 3.2 m from the root; use more for giants)
    rotations: Int16 x 4 per joint,         world rotation, times 32767
    parts?: [[jointA, ax, ay, az, ra, jointB, bx, by, bz, rb, group]...],
                                            round cones; each end is fixed in its joint's frame. Groups: 0 torso,
                                            1 head, 2 face, 3 left arm, 4 left hand, 5 left leg, 6 left foot,
                                            7 right arm, 8 right hand, 9 right leg, 10 right foot; parts of a group
                                            follow each other. Without parts the skeleton is shown
    contacts?: Uint8 per frame,             bits 1 left heel, 2 left toe, 4 right heel, 8 right toe
    landmarks?: { left_heel, left_toe, right_heel, right_toe, left_hand, right_hand },
                                            joint indices: contact marks and trails
    spans?: [{ kind, label?, from, to, active?: [from, to] }...]
  }...],
  props?: [{ kind: "sphere" | "box" | "cylinder" | "capsule", label?, color?,
    radius (not box), height (cylinder, capsule: overall, along local Y), size: [x, y, z] (box),
    at?: [x, y, z], yaw_deg?,               its centre, when it does not move
    path?: [[t, x, y, z] or [t, x, y, z, qx, qy, qz, qw]...],   its centre over time, by increasing t
    shown?: [from, to] }...],
  events?: [{ time, kind, text, at?: [x, y, z], character?: index }...] }

Address options, after "#", joined by "&": t=1.2 (paused there), theme=dark|light, quality=0|1|2.

Test hook: window.kumite = { ready, error, frame, seek(seconds), play(), pause(), state(), screen(character, joint) }.
*/
"use strict";
(() => {

// ---------------------------------------------------------------------------------------------------------- data

const PALETTE = ["#e0913a", "#4f93d8", "#5fae6e", "#b779c9", "#d2605a", "#45aba6", "#c2a63c", "#8089d6", "#cf7fa0", "#8c9a5b"];
const CONTACTS = [["left_heel", 1], ["left_toe", 2], ["right_heel", 4], ["right_toe", 8]];

/** Reads and checks the data block; throws an Error that says what is wrong. */
function readTake(text) {
  let data;
  try { data = JSON.parse(text); } catch (e) { throw new Error(`The data of this replay is not valid JSON: ${e.message}`); }
  if (data.version !== 1) throw new Error(`This page reads replay version 1; the data says ${data.version}.`);
  if (!(data.fps > 0)) throw new Error("The replay does not say how many frames there are per second.");
  const characters = (data.characters || []).map(readCharacter);
  const longest = characters.reduce((n, c) => Math.max(n, c.start + c.frames), 0);
  const frames = data.frames > 0 ? data.frames : longest;
  if (!frames) throw new Error("The replay holds no frames.");
  const events = (data.events || []).slice().sort((a, b) => a.time - b.time);
  return {
    title: data.title || "Replay", note: data.note || "", fps: data.fps, frames, duration: (frames - 1) / data.fps,
    floor: data.floor || 0, characters, props: (data.props || []).map(readProp), events,
  };
}

function readCharacter(c, index) {
  const name = c.name || `Character ${index + 1}`;
  const joints = c.joints || [], count = joints.length;
  const root = numbers(Float32Array, c.root), frames = Math.floor(root.length / 3);
  const positions = numbers(Int16Array, c.positions), rotations = numbers(Int16Array, c.rotations);
  const expect = (what, found, wanted) => {
    if (found !== wanted) throw new Error(`${name}: ${what} holds ${found} values, ${wanted} expected.`);
  };
  if (!count || !(frames >= 1)) throw new Error(`${name} has no joints or no frames.`);
  expect("parents", (c.parents || []).length, count);
  expect("positions", positions.length, frames * count * 3);
  expect("rotations", rotations.length, frames * count * 4);
  const contacts = c.contacts ? numbers(Uint8Array, c.contacts) : null;
  if (contacts) expect("contacts", contacts.length, frames);
  for (const p of c.parts || []) {
    if (!(p[0] in joints) || !(p[5] in joints)) throw new Error(`${name}: a part names joint ${p[0]} or ${p[5]}, which does not exist.`);
  }
  const color = hexColor(c.color, PALETTE[index % PALETTE.length]);
  return {
    name, index, joints, parents: c.parents, count, frames, start: c.start || 0, root, positions, rotations,
    step: c.step || 0.0001, parts: c.parts || [], contacts, landmarks: c.landmarks || {}, spans: c.spans || [],
    color, tints: readTints(c.colors, color), runs: groupRuns(c.parts || []), visible: true,
    pose: { at: new Float32Array(count * 3), turn: new Float32Array(count * 4) },
  };
}

function readProp(p) {
  if (!["sphere", "box", "cylinder", "capsule"].includes(p.kind)) throw new Error(`A prop is a "${p.kind}"; known are sphere, box, cylinder and capsule.`);
  const half = (p.yaw_deg || 0) * Math.PI / 360;
  return {
    ...p, radius: p.radius || 0.1, height: p.height || 1, size: p.size || [1, 1, 1],
    path: p.path && p.path.length ? p.path : [[0, ...(p.at || [0, 0, 0])]],
    turn: [0, Math.sin(half), 0, Math.cos(half)],
    color: hexColor(p.color, p.kind === "sphere" ? "#d9b45b" : "#7f8894"),
  };
}

/** Light of every group. Made up, left is lighter and right darker than the middle, hands and feet darker than limbs. */
function readTints(colors, color) {
  if (colors && colors.length) return colors.map((c) => linear(hexColor(c, color)));
  const base = linear(color), ink = [0.02, 0.02, 0.03], left = mix3(base, [0.95, 0.93, 0.90], 0.17), right = mix3(base, ink, 0.4);
  const limbs = (side) => [side, mix3(side, ink, 0.3), mix3(side, ink, 0.06), mix3(side, ink, 0.3)];
  return [base, mix3(base, [0.80, 0.70, 0.62], 0.72), [0.025, 0.03, 0.04], ...limbs(left), ...limbs(right)];
}

/** For every part the range of neighbours in its group. */
function groupRuns(parts) {
  const runs = [];
  for (let i = 0; i < parts.length;) {
    let end = i + 1;
    while (end < parts.length && parts[end][10] === parts[i][10]) end++;
    for (const run = [i, end]; i < end; i++) runs.push(run);
  }
  return runs;
}

const hexColor = (text, otherwise) => (/^#[0-9a-f]{6}$/i.test(text) ? text : otherwise);

/** Base64 as whole numbers of the given kind of array; a broken last one is dropped. */
function numbers(Kind, base64) {
  const text = atob(base64 || ""), bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  return new Kind(bytes.buffer, 0, Math.floor(bytes.length / Kind.BYTES_PER_ELEMENT));
}

// ---------------------------------------------------------------------------------------------------------- maths

const clamp = (x, low, high) => Math.min(high, Math.max(low, x));
const add = (a, b) => [a[0] + b[0], a[1] + b[1], a[2] + b[2]];
const sub = (a, b) => [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
const scale = (a, s) => [a[0] * s, a[1] * s, a[2] * s];
const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
const unit = (a) => scale(a, 1 / (Math.hypot(a[0], a[1], a[2]) || 1));
const lerp = (a, b, t) => a + (b - a) * t;

/** Rotates a vector by quaternion `q[o..o+4]`. */
function rotate(q, o, x, y, z) {
  const a = q[o], b = q[o + 1], c = q[o + 2], w = q[o + 3];
  const tx = 2 * (b * z - c * y), ty = 2 * (c * x - a * z), tz = 2 * (a * y - b * x);
  return [x + w * tx + b * tz - c * ty, y + w * ty + c * tx - a * tz, z + w * tz + a * ty - b * tx];
}

/** conjugate(a) * b: the rotation of b as seen from a. */
function relative(a, b) {
  const [x, y, z, w] = [-a[0], -a[1], -a[2], a[3]];
  return [
    w * b[0] + x * b[3] + y * b[2] - z * b[1], w * b[1] - x * b[2] + y * b[3] + z * b[0],
    w * b[2] + x * b[1] - y * b[0] + z * b[3], w * b[3] - x * b[0] - y * b[1] - z * b[2],
  ];
}

/** Angles in degrees about X, then Y, then Z (fixed axes). */
function eulerDegrees([x, y, z, w]) {
  const k = 180 / Math.PI;
  return [
    Math.atan2(2 * (w * x + y * z), 1 - 2 * (x * x + y * y)) * k,
    Math.asin(clamp(2 * (w * y - z * x), -1, 1)) * k,
    Math.atan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z)) * k,
  ];
}

function multiply(a, b) {
  const m = new Float32Array(16);
  for (let c = 0; c < 4; c++) {
    for (let r = 0; r < 4; r++) {
      m[c * 4 + r] = a[r] * b[c * 4] + a[4 + r] * b[c * 4 + 1] + a[8 + r] * b[c * 4 + 2] + a[12 + r] * b[c * 4 + 3];
    }
  }
  return m;
}

function perspective(fov, aspect, near, far, shift) {
  const f = 1 / Math.tan(fov / 2);
  return [f / aspect, 0, 0, 0, 0, f, 0, 0, shift, 0, (far + near) / (near - far), -1, 0, 0, 2 * far * near / (near - far), 0];
}

function orthographic(half, near, far) {
  return [1 / half, 0, 0, 0, 0, 1 / half, 0, 0, 0, 0, 2 / (near - far), 0, 0, 0, (far + near) / (near - far), 1];
}

function lookAt(eye, target, up) {
  const z = unit(sub(eye, target)), x = unit(cross(up, z)), y = cross(z, x);
  return [x[0], y[0], z[0], 0, x[1], y[1], z[1], 0, x[2], y[2], z[2], 0, -dot(x, eye), -dot(y, eye), -dot(z, eye), 1];
}

/** Position, rotation and size as a 4x4 matrix. */
function placement(at, q) {
  const x = rotate(q, 0, 1, 0, 0), y = rotate(q, 0, 0, 1, 0), z = rotate(q, 0, 0, 0, 1);
  return [...x, 0, ...y, 0, ...z, 0, ...at, 1];
}

/** "#rrggbb" as light: see `finish` in the shaders. */
function linear(hex) {
  const n = parseInt(hex.slice(1), 16);
  return [n >> 16, n >> 8, n].map((v) => ((v & 255) / 255) ** 2);
}

const mix3 = (a, b, t) => [lerp(a[0], b[0], t), lerp(a[1], b[1], t), lerp(a[2], b[2], t)];

// ---------------------------------------------------------------------------------------------------------- poses

/** Writes the pose of `c` at a fractional frame of the shared clock: straight lines between frames. */
function samplePose(c, frame, pose) {
  const f = clamp(frame - c.start, 0, c.frames - 1), f0 = Math.floor(f), f1 = Math.min(f0 + 1, c.frames - 1), t = f - f0;
  const { positions, rotations, root, step, count } = c, { at, turn } = pose;
  const rx = lerp(root[f0 * 3], root[f1 * 3], t), ry = lerp(root[f0 * 3 + 1], root[f1 * 3 + 1], t), rz = lerp(root[f0 * 3 + 2], root[f1 * 3 + 2], t);
  for (let j = 0, a = f0 * count * 3, b = f1 * count * 3; j < count * 3; j += 3) {
    at[j] = rx + step * lerp(positions[a + j], positions[b + j], t);
    at[j + 1] = ry + step * lerp(positions[a + j + 1], positions[b + j + 1], t);
    at[j + 2] = rz + step * lerp(positions[a + j + 2], positions[b + j + 2], t);
  }
  for (let j = 0, a = f0 * count * 4, b = f1 * count * 4; j < count * 4; j += 4) {
    const p = a + j, q = b + j;
    const d = rotations[p] * rotations[q] + rotations[p + 1] * rotations[q + 1] + rotations[p + 2] * rotations[q + 2] + rotations[p + 3] * rotations[q + 3];
    const s = d < 0 ? -t : t;
    let length = 0;
    for (let k = 0; k < 4; k++) length += (turn[j + k] = (1 - t) * rotations[p + k] + s * rotations[q + k]) ** 2;
    length = Math.sqrt(length) || 1;
    for (let k = 0; k < 4; k++) turn[j + k] /= length;
  }
  return pose;
}

/** World position of one joint at a fractional frame. */
function jointAt(c, joint, frame) {
  const f = clamp(frame - c.start, 0, c.frames - 1), f0 = Math.floor(f), f1 = Math.min(f0 + 1, c.frames - 1), t = f - f0;
  const a = (f0 * c.count + joint) * 3, b = (f1 * c.count + joint) * 3;
  return [0, 1, 2].map((k) => lerp(c.root[f0 * 3 + k] + c.step * c.positions[a + k], c.root[f1 * 3 + k] + c.step * c.positions[b + k], t));
}

/** Metres per second of one joint, over two frames around `frame`. */
function jointVelocity(c, joint, frame, fps) {
  return scale(sub(jointAt(c, joint, frame + 1), jointAt(c, joint, frame - 1)), fps / 2);
}

const poseJoint = (pose, j) => [pose.at[j * 3], pose.at[j * 3 + 1], pose.at[j * 3 + 2]];

/** World ends of a part: [ax, ay, az, ra, bx, by, bz, rb]. */
function partEnds(pose, p) {
  const a = rotate(pose.turn, p[0] * 4, p[1], p[2], p[3]), b = rotate(pose.turn, p[5] * 4, p[6], p[7], p[8]);
  const i = p[0] * 3, k = p[5] * 3, at = pose.at;
  return [at[i] + a[0], at[i + 1] + a[1], at[i + 2] + a[2], p[4], at[k] + b[0], at[k + 1] + b[1], at[k + 2] + b[2], p[9]];
}

/** Where a prop is at time t: { at, turn }, or null while it is not shown. */
function propAt(p, t) {
  if (p.shown && (t < p.shown[0] || t > p.shown[1])) return null;
  const path = p.path;
  let i = path.findIndex((k) => k[0] > t);
  if (i < 0) i = path.length;
  const a = path[Math.max(i - 1, 0)], b = path[Math.min(i, path.length - 1)];
  const s = b[0] > a[0] ? clamp((t - a[0]) / (b[0] - a[0]), 0, 1) : 0;
  const at = [1, 2, 3].map((k) => lerp(a[k], b[k], s));
  if (a.length < 8 || b.length < 8) return { at, turn: p.turn };
  const qa = a.slice(4), qb = b.slice(4), flip = qa.reduce((d, v, k) => d + v * qb[k], 0) < 0 ? -1 : 1;
  const q = qa.map((v, k) => lerp(v, flip * qb[k], s)), length = Math.hypot(...q) || 1;
  return { at, turn: q.map((v) => v / length) };
}

/** Rough radius of a prop about its centre. */
function propReach(p) {
  if (p.kind === "box") return Math.hypot(...p.size) / 2;
  return p.kind === "sphere" ? p.radius : Math.hypot(p.radius, p.height / 2);
}

/** Box around the joints of the visible characters over frames first..last; with the props near them if asked, or if alone. */
function boundsOver(take, first, last, withProps = false) {
  const low = [Infinity, Infinity, Infinity], high = [-Infinity, -Infinity, -Infinity];
  const grow = (p, pad) => {
    for (let k = 0; k < 3; k++) { low[k] = Math.min(low[k], p[k] - pad); high[k] = Math.max(high[k], p[k] + pad); }
  };
  const stride = Math.max(1, Math.floor((last - first) / 240));
  for (const c of take.characters.filter((c) => c.visible)) {
    for (let f = first; f <= last; f += stride) for (let j = 0; j < c.count; j++) grow(jointAt(c, j, f), 0.1);
  }
  const alone = low[0] > high[0];
  const [from, to] = [low, high].map((edge, side) => add(edge, scale([1, 0, 1], side ? 2.5 : -2.5)));
  for (const p of withProps || alone ? take.props : []) {
    const place = propAt(p, first / take.fps);
    if (place && (alone || [0, 2].every((k) => place.at[k] > from[k] && place.at[k] < to[k]))) grow(place.at, propReach(p));
  }
  if (low[0] > high[0]) return { low: [-1, 0, -1], high: [1, 1.8, 1] };
  low[1] = Math.min(low[1], take.floor);
  return { low, high };
}

// ---------------------------------------------------------------------------------------------------------- shaders

const GLSL_HEAD = `#version 300 es
precision highp float; precision highp int; precision highp sampler2DShadow;
`;

/* Light shared by bodies, props and floor. Colours are squares of screen values, close to linear light and quick to encode. */
const GLSL_LIGHT = `
uniform vec3 uEye, uKey, uKeyColor, uSky, uGround, uRim;
uniform mat4 uLight;
uniform float uFloor, uTaps, uSpread, uBias, uShade;
uniform sampler2DShadow uShadow;

float lit(vec3 p) {
  vec3 s = (uLight * vec4(p, 1.0)).xyz * 0.5 + 0.5;
  if (any(greaterThan(abs(s - 0.5), vec3(0.5)))) return 1.0;
  float sum = 0.0;
  for (float i = 0.0; i < uTaps; i += 1.0) {
    float a = i * 2.39996, r = sqrt((i + 0.5) / uTaps) * uSpread;
    sum += texture(uShadow, s + vec3(cos(a) * r, sin(a) * r, 0.0));
  }
  return sum / uTaps;
}

vec4 finish(vec3 c, float alpha) {
  c = c * (1.0 + c * 0.12) / (1.0 + c * 0.32);
  float grain = fract(52.9829189 * fract(dot(gl_FragCoord.xy, vec2(0.06711056, 0.00583715)))) - 0.5;
  return vec4(sqrt(c) + grain / 255.0, alpha);
}

vec3 shade(vec3 p, vec3 n, vec3 albedo, float open) {
  vec3 v = normalize(uEye - p);
  float height = p.y - uFloor;
  float bounce = mix(0.45, 1.0, clamp(height / 0.5 + max(n.y, 0.0), 0.0, 1.0));
  vec3 ambient = mix(uGround, uSky, n.y * 0.5 + 0.5) * open * mix(1.0, bounce, 0.7);
  float facing = dot(n, uKey);
  float key = max((facing + 0.2) / 1.2, 0.0);
  key *= key * lit(p + n * uBias) * mix(0.6, 1.0, open);
  vec3 h = normalize(uKey + v);
  float gloss = pow(max(dot(n, h), 0.0), 34.0) * 0.16 * step(0.0, facing) * min(key * 2.0, 1.0);
  float fill = max(dot(n, normalize(v + vec3(0.0, 0.35, 0.0))), 0.0) * 0.22 * open;
  float rim = pow(1.0 - max(dot(n, v), 0.0), 3.2) * (0.35 + 0.65 * clamp(n.y + 0.45, 0.0, 1.0)) * open;
  return albedo * (ambient + uKeyColor * key + fill) + uKeyColor * gloss + uRim * rim;
}
`;

/* A round cone: two spheres and the surface that touches both. The mesh is a sphere cut at one circle of latitude;
   each half goes to its end, and the cut moves to where the cone touches the spheres, so normals are exact. */
const BODY_VERTEX = `${GLSL_HEAD}
layout(location = 0) in vec4 aPlace;   // cos and sin around the axis; 0..1 from pole A (or cut) to cut (or pole B); end
layout(location = 1) in vec4 iA;       // centre and radius
layout(location = 2) in vec4 iB;
layout(location = 3) in vec4 iColor;
layout(location = 4) in vec4 iNear;    // parts that may shade this one, from and to, without those from and to in its group
uniform mat4 uView;
uniform sampler2D uParts;
uniform float uOcclude;
out vec3 vAt, vNormal; out vec4 vColor; out float vOpen;

float openness(vec3 p, vec3 n) {
  float open = 1.0;
  for (int i = int(iNear.x); i < int(iNear.y); i++) {
    if (i >= int(iNear.z) && i < int(iNear.w)) continue;
    ivec2 cell = ivec2((i & 255) * 2, i >> 8);
    vec4 a = texelFetch(uParts, cell, 0), b = texelFetch(uParts, cell + ivec2(1, 0), 0);
    vec3 ab = b.xyz - a.xyz;
    float t = clamp(dot(p - a.xyz, ab) / max(dot(ab, ab), 1e-6), 0.0, 1.0);
    vec3 to = a.xyz + ab * t - p;
    float d = max(length(to), 1e-3), r = mix(a.w, b.w, t);
    open *= 1.0 - 0.62 * clamp(dot(n, to) / d, 0.0, 1.0) * min(r * r / (d * d), 1.0);
  }
  return open;
}

void main() {
  vec3 axis = iB.xyz - iA.xyz;
  float len = length(axis);
  vec3 d = len > 1e-5 ? axis / len : vec3(0.0, 1.0, 0.0);
  vec3 u = normalize(cross(d, abs(d.y) < 0.9 ? vec3(0.0, 1.0, 0.0) : vec3(1.0, 0.0, 0.0)));
  vec3 w = cross(d, u);
  float cut = asin(clamp((iA.w - iB.w) / max(len, 1e-5), -1.0, 1.0)), quarter = 1.5707963;
  float lat = aPlace.w < 0.5 ? mix(-quarter, cut, aPlace.z) : mix(cut, quarter, aPlace.z);
  vec3 n = sin(lat) * d + cos(lat) * (aPlace.x * u + aPlace.y * w);
  vec4 end = aPlace.w < 0.5 ? iA : iB;
  vAt = end.xyz + n * end.w;
  vNormal = n;
  vColor = iColor;
  vOpen = uOcclude > 0.5 ? openness(vAt, n) : 1.0;
  gl_Position = uView * vec4(vAt, 1.0);
}`;

const SOLID_VERTEX = `${GLSL_HEAD}
layout(location = 0) in vec3 aAt; layout(location = 1) in vec3 aNormal;
uniform mat4 uView, uModel; uniform vec3 uSize; uniform vec4 uColor;
out vec3 vAt, vNormal; out vec4 vColor; out float vOpen;
void main() {
  vAt = (uModel * vec4(aAt * uSize, 1.0)).xyz;
  vNormal = normalize(mat3(uModel) * (aNormal / uSize));
  vColor = uColor; vOpen = 1.0;
  gl_Position = uView * vec4(vAt, 1.0);
}`;

const SHADE_FRAGMENT = `${GLSL_HEAD}${GLSL_LIGHT}
in vec3 vAt, vNormal; in vec4 vColor; in float vOpen; out vec4 color;
void main() { color = finish(shade(vAt, normalize(vNormal), vColor.rgb, vOpen), vColor.a); }`;

/* Ghosts: faint in the middle, clear at the outline. */
const GHOST_FRAGMENT = `${GLSL_HEAD}${GLSL_LIGHT}
in vec3 vAt, vNormal; in vec4 vColor; in float vOpen; out vec4 color;
void main() {
  float edge = 1.0 - abs(dot(normalize(vNormal), normalize(uEye - vAt)));
  color = finish(vColor.rgb * (0.85 + 0.5 * edge), vColor.a * (0.22 + 0.78 * edge * edge));
}`;

const FLAT_FRAGMENT = `${GLSL_HEAD}${GLSL_LIGHT}
in vec3 vAt, vNormal; in vec4 vColor; in float vOpen; out vec4 color;
void main() {
  float facing = dot(normalize(vNormal), normalize(uEye - vAt));
  color = finish(vColor.rgb * (0.55 + 0.45 * facing), vColor.a);
}`;

/* Nearness to the floor, seen from above: the source of the soft contact shadow. */
const NEAR_FRAGMENT = `${GLSL_HEAD}
in vec3 vAt, vNormal; in vec4 vColor; in float vOpen; uniform float uFloor; out vec4 color;
void main() { color = vec4(exp(-max(vAt.y - uFloor, 0.0) * 3.2)); }`;

const DEPTH_FRAGMENT = `${GLSL_HEAD}
in vec3 vAt, vNormal; in vec4 vColor; in float vOpen; out vec4 color;
void main() { color = vec4(1.0); }`;

const SCREEN_VERTEX = `${GLSL_HEAD}
out vec2 vUv;
void main() { vUv = vec2(gl_VertexID & 1, gl_VertexID >> 1) * 2.0; gl_Position = vec4(vUv * 2.0 - 1.0, 0.0, 1.0); }`;

const BLUR_FRAGMENT = `${GLSL_HEAD}
in vec2 vUv; uniform sampler2D uImage; uniform vec2 uStep; out vec4 color;
void main() {
  float sum = 0.0, weight = 0.0;
  for (float i = -5.0; i <= 5.0; i += 1.0) {
    float w = exp(-i * i * 0.09);
    sum += texture(uImage, vUv + uStep * i).r * w; weight += w;
  }
  color = vec4(sum / weight);
}`;

const SKY_FRAGMENT = `${GLSL_HEAD}${GLSL_LIGHT}
in vec2 vUv; uniform vec3 uLow, uHigh; out vec4 color;
void main() { color = finish(mix(uLow, uHigh, smoothstep(0.0, 1.0, vUv.y)), 1.0); }`;

const FLOOR_VERTEX = `${GLSL_HEAD}
uniform mat4 uView; uniform vec3 uCentre; uniform float uReach, uFloor;
out vec3 vAt;
void main() {
  vec2 p = vec2(gl_VertexID & 1, gl_VertexID >> 1) * 2.0 - 1.0;
  vAt = vec3(uCentre.x + p.x * uReach, uFloor, uCentre.z - p.y * uReach);
  gl_Position = uView * vec4(vAt, 1.0);
}`;

const FLOOR_FRAGMENT = `${GLSL_HEAD}${GLSL_LIGHT}
in vec3 vAt; uniform vec3 uCentre, uFloorColor, uLineColor; uniform float uReach, uGrid;
uniform sampler2D uNear; uniform vec4 uNearBox; out vec4 color;

float lines(vec2 p, vec2 width, float pixels) {
  vec2 g = abs(fract(p - 0.5) - 0.5) / max(width, 1e-5);
  vec2 fade = clamp(1.2 - width * 2.2, 0.0, 1.0);
  vec2 on = clamp(pixels * 0.5 + 0.5 - g, 0.0, 1.0) * fade;
  return max(on.x, on.y);
}

void main() {
  float away = length(vAt.xz - uCentre.xz) / uReach;
  float fade = 1.0 - smoothstep(0.08, 1.0, away);
  vec2 width = fwidth(vAt.xz);
  float line = uGrid * (lines(vAt.xz, width, 1.3) * 0.75 + lines(vAt.xz * 4.0, width * 4.0, 1.0) * 0.22);
  vec2 cell = (vAt.xz - uNearBox.xy) / uNearBox.z + 0.5;
  vec2 inside = step(abs(cell - 0.5), vec2(0.5));
  float touch = texture(uNear, cell).r * inside.x * inside.y;
  float shadow = mix(uShade, 1.0, lit(vAt)) * (1.0 - 0.72 * smoothstep(0.0, 0.8, touch));
  vec3 c = mix(uFloorColor, uLineColor, line) * shadow;
  float darkness = (1.0 - shadow) * (1.0 - smoothstep(0.5, 1.0, away));
  color = finish(c, max(fade * fade, darkness));
}`;

/* Lines of constant width on the screen, cut square so that neighbours do not overlap; of no length: a dot or a ring. */
const LINE_VERTEX = `${GLSL_HEAD}
layout(location = 0) in vec4 iA;       // point, half width in pixels
layout(location = 1) in vec4 iB;       // point, ring thickness in pixels (0: filled)
layout(location = 2) in vec4 iColorA;
layout(location = 3) in vec4 iColorB;
uniform mat4 uView; uniform vec2 uPixels;
out vec2 vP; flat out vec2 vShape; out vec4 vColor;
void main() {
  vec4 a = uView * vec4(iA.xyz, 1.0), b = uView * vec4(iB.xyz, 1.0);
  if (a.w < 0.02 || b.w < 0.02) { gl_Position = vec4(2.0, 2.0, 2.0, 1.0); return; }
  vec2 pa = a.xy / a.w * uPixels * 0.5, pb = b.xy / b.w * uPixels * 0.5, along = pb - pa;
  bool point = iA.xyz == iB.xyz;
  float len = length(along), side = iA.w + 1.0, end = point ? side : 0.0;
  vec2 d = len > 1e-4 ? along / len : vec2(1.0, 0.0);
  vec2 corner = vec2(gl_VertexID & 1, gl_VertexID >> 1);
  vec2 local = vec2(mix(-end, len + end, corner.x), mix(-side, side, corner.y));
  vP = point ? local : vec2(0.0, local.y);
  vShape = vec2(iA.w, iB.w);
  vColor = corner.x < 0.5 ? iColorA : iColorB;
  vec4 base = corner.x < 0.5 ? a : b;
  vec2 screen = pa + d * local.x + vec2(-d.y, d.x) * local.y;
  gl_Position = vec4(screen / uPixels * 2.0 * base.w, base.z - 0.0006 * base.w, base.w);
}`;

const LINE_FRAGMENT = `${GLSL_HEAD}${GLSL_LIGHT}
in vec2 vP; flat in vec2 vShape; in vec4 vColor; out vec4 color;
void main() {
  float d = length(vP) - vShape.x;
  if (vShape.y > 0.0) d = abs(d + vShape.y * 0.5) - vShape.y * 0.5;
  color = finish(vColor.rgb, vColor.a * clamp(0.5 - d, 0.0, 1.0));
}`;

/* Marks lying on the floor: a filled capsule with a clear outline. */
const MARK_VERTEX = `${GLSL_HEAD}
layout(location = 0) in vec4 iEnds;    // x and z of both ends
layout(location = 1) in vec2 iSize;    // radius, strength of the filling
layout(location = 2) in vec4 iColor;
uniform mat4 uView; uniform float uFloor;
out vec2 vP; flat out vec3 vShape; flat out vec4 vColor;
void main() {
  vec2 along = iEnds.zw - iEnds.xy; float len = length(along), pad = iSize.x * 1.25;
  vec2 d = len > 1e-4 ? along / len : vec2(1.0, 0.0);
  vec2 corner = vec2(gl_VertexID & 1, gl_VertexID >> 1);
  vP = vec2(mix(-pad, len + pad, corner.x), mix(-pad, pad, corner.y));
  vShape = vec3(len, iSize); vColor = iColor;
  vec2 at = iEnds.xy + d * vP.x + vec2(-d.y, d.x) * vP.y;
  gl_Position = uView * vec4(at.x, uFloor + 0.003, at.y, 1.0);
}`;

const MARK_FRAGMENT = `${GLSL_HEAD}${GLSL_LIGHT}
in vec2 vP; flat in vec3 vShape; flat in vec4 vColor; out vec4 color;
void main() {
  float d = length(vec2(vP.x - clamp(vP.x, 0.0, vShape.x), vP.y)) - vShape.y, px = max(fwidth(d), 1e-5);
  float inside = clamp(0.5 - d / px, 0.0, 1.0), edge = clamp(1.3 - abs(d + px) / px, 0.0, 1.0);
  color = finish(vColor.rgb, vColor.a * max(inside * vShape.z, edge));
}`;

// ---------------------------------------------------------------------------------------------------------- renderer

const CONE = 16, LINE = 16, MARK = 10;   // floats per instance

/** A growing array of instances. */
class Batch {
  constructor(width) { this.width = width; this.count = 0; this.data = new Float32Array(width * 64); }
  clear() { this.count = 0; }
  /** Room for one more instance: its offset in `data`. */
  next() {
    const o = this.count++ * this.width;
    if (o + this.width > this.data.length) {
      const grown = new Float32Array(this.data.length * 2);
      grown.set(this.data);
      this.data = grown;
    }
    return o;
  }
  push(...values) { const o = this.next(); this.data.set(values, o); }
}

/** What one picture holds. The player fills it, the renderer draws it. */
function emptyScene() {
  return {
    bodies: new Batch(CONE), ghosts: new Batch(CONE), bones: new Batch(CONE), lines: new Batch(LINE), over: new Batch(LINE), marks: new Batch(MARK),
    solids: [], grid: true, centre: [0, 0, 0], radius: 2,
    clear() {
      for (const b of [this.bodies, this.ghosts, this.bones, this.lines, this.over, this.marks]) b.clear();
      this.solids.length = 0;
    },
  };
}

const LOOKS = {
  dark: {
    uLow: linear("#20242a"), uHigh: linear("#15181c"), uFloorColor: linear("#343a42"), uLineColor: linear("#535c68"),
    uSky: [0.40, 0.44, 0.50], uGround: [0.13, 0.12, 0.11], uKeyColor: [1.62, 1.52, 1.38], uRim: [0.20, 0.24, 0.30], uShade: 0.38,
  },
  light: {
    uLow: linear("#fafbfd"), uHigh: linear("#f0f3f7"), uFloorColor: linear("#ffffff"), uLineColor: linear("#ccd3dc"),
    uSky: [0.66, 0.70, 0.76], uGround: [0.36, 0.34, 0.32], uKeyColor: [1.30, 1.24, 1.14], uRim: [0.10, 0.11, 0.12], uShade: 0.56,
  },
};

/* From the plainest, for software drawing, to the richest. */
const QUALITY = [
  { sides: 12, rows: 3, occlude: 0, taps: 5, shadow: 1024, near: 128, ratio: 0.8 },
  { sides: 18, rows: 4, occlude: 1, taps: 5, shadow: 1024, near: 256, ratio: 1.5 },
  { sides: 30, rows: 6, occlude: 1, taps: 14, shadow: 2048, near: 512, ratio: 2 },
];

const UNITS = { uShadow: 0, uParts: 1, uNear: 2, uImage: 3 };

class Renderer {
  constructor(canvas) {
    this.canvas = canvas;
    this.gl = canvas.getContext("webgl2", { antialias: true, alpha: false, powerPreference: "high-performance" });
    if (!this.gl) throw new Error("no WebGL2");
    this.build();
  }

  build() {
    const gl = this.gl;
    this.programs = {
      body: this.program(BODY_VERTEX, SHADE_FRAGMENT), ghost: this.program(BODY_VERTEX, GHOST_FRAGMENT), bone: this.program(BODY_VERTEX, FLAT_FRAGMENT),
      bodyDepth: this.program(BODY_VERTEX, DEPTH_FRAGMENT), bodyNear: this.program(BODY_VERTEX, NEAR_FRAGMENT),
      solid: this.program(SOLID_VERTEX, SHADE_FRAGMENT), solidDepth: this.program(SOLID_VERTEX, DEPTH_FRAGMENT),
      solidNear: this.program(SOLID_VERTEX, NEAR_FRAGMENT),
      sky: this.program(SCREEN_VERTEX, SKY_FRAGMENT), blur: this.program(SCREEN_VERTEX, BLUR_FRAGMENT), floor: this.program(FLOOR_VERTEX, FLOOR_FRAGMENT),
      line: this.program(LINE_VERTEX, LINE_FRAGMENT), mark: this.program(MARK_VERTEX, MARK_FRAGMENT),
    };
    this.empty = gl.createVertexArray();
    this.solidMeshes = { box: this.solidMesh(boxMesh()), cylinder: this.solidMesh(cylinderMesh(40)) };
    this.plain = this.cones(12, 3);
    this.lines = this.instanced([4, 4, 4, 4]);
    this.marks = this.instanced([4, 2, 4]);
    this.partsTexture = this.texture(UNITS.uParts, gl.NEAREST);
    this.partsRows = 0;
    this.levels = [];
    const info = gl.getExtension("WEBGL_debug_renderer_info");
    const name = String(gl.getParameter(info ? info.UNMASKED_RENDERER_WEBGL : gl.RENDERER));
    this.software = /swiftshader|llvmpipe|software|basic render/i.test(name);
    this.setQuality(this.software ? 0 : 2);
  }

  program(vertex, fragment) {
    const gl = this.gl, p = gl.createProgram();
    for (const [type, source] of [[gl.VERTEX_SHADER, vertex], [gl.FRAGMENT_SHADER, fragment]]) {
      const s = gl.createShader(type);
      gl.shaderSource(s, source);
      gl.compileShader(s);
      if (!gl.getShaderParameter(s, gl.COMPILE_STATUS) && !gl.isContextLost()) throw new Error(gl.getShaderInfoLog(s));
      gl.attachShader(p, s);
    }
    gl.linkProgram(p);
    if (!gl.getProgramParameter(p, gl.LINK_STATUS) && !gl.isContextLost()) throw new Error(gl.getProgramInfoLog(p));
    const at = {};
    gl.useProgram(p);
    for (let i = 0; i < (gl.getProgramParameter(p, gl.ACTIVE_UNIFORMS) || 0); i++) {
      const { name } = gl.getActiveUniform(p, i);
      at[name] = gl.getUniformLocation(p, name);
      if (name in UNITS) gl.uniform1i(at[name], UNITS[name]);
    }
    return { p, at };
  }

  use(program, values) {
    const gl = this.gl;
    gl.useProgram(program.p);
    for (const [name, v] of Object.entries(values)) {
      const at = program.at[name];
      if (!at) continue;
      if (typeof v === "number") gl.uniform1f(at, v);
      else if (v.length === 16) gl.uniformMatrix4fv(at, false, v);
      else gl[`uniform${v.length}fv`](at, v);
    }
  }

  texture(unit, filter) {
    const gl = this.gl, t = gl.createTexture();
    gl.activeTexture(gl.TEXTURE0 + unit);
    gl.bindTexture(gl.TEXTURE_2D, t);
    for (const [key, value] of [["MIN_FILTER", filter], ["MAG_FILTER", filter], ["WRAP_S", gl.CLAMP_TO_EDGE], ["WRAP_T", gl.CLAMP_TO_EDGE]]) {
      gl.texParameteri(gl.TEXTURE_2D, gl[`TEXTURE_${key}`], value);
    }
    return t;
  }

  /** Chooses the level of detail; what it needs is made once and kept. */
  setQuality(level) {
    const gl = this.gl, bind = (unit, texture) => { gl.activeTexture(gl.TEXTURE0 + unit); gl.bindTexture(gl.TEXTURE_2D, texture); };
    this.quality = level;
    this.levels[level] = this.levels[level] || this.makeLevel(QUALITY[level]);
    Object.assign(this, this.levels[level]);
    bind(UNITS.uShadow, this.shadow);
    bind(UNITS.uNear, this.nearMaps[1].texture);
  }

  makeLevel(detail) {
    const gl = this.gl, shadow = this.texture(UNITS.uShadow, gl.LINEAR);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_COMPARE_MODE, gl.COMPARE_REF_TO_TEXTURE);
    gl.texStorage2D(gl.TEXTURE_2D, 1, gl.DEPTH_COMPONENT24, detail.shadow, detail.shadow);
    const nearMaps = [UNITS.uImage, UNITS.uNear].map((unit) => {
      const texture = this.texture(unit, gl.LINEAR);
      gl.texStorage2D(gl.TEXTURE_2D, 1, gl.R8, detail.near, detail.near);
      return { texture, target: this.target(gl.COLOR_ATTACHMENT0, texture) };
    });
    return { detail, fine: this.cones(detail.sides, detail.rows), shadow, shadowTarget: this.target(gl.DEPTH_ATTACHMENT, shadow), nearMaps };
  }

  target(attachment, texture) {
    const gl = this.gl, f = gl.createFramebuffer();
    gl.bindFramebuffer(gl.FRAMEBUFFER, f);
    gl.framebufferTexture2D(gl.FRAMEBUFFER, attachment, gl.TEXTURE_2D, texture, 0);
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
    return f;
  }

  /** The round-cone mesh with its instance buffer. */
  cones(sides, rows) {
    const gl = this.gl, places = [], order = [], ring = sides + 1;
    for (let row = 0; row < 2 * (rows + 1); row++) {
      const end = row > rows ? 1 : 0, t = (row - end * (rows + 1)) / rows;
      for (let i = 0; i <= sides; i++) places.push(Math.cos(i / sides * 2 * Math.PI), Math.sin(i / sides * 2 * Math.PI), t, end);
      if (row) {
        for (let i = 0, a = (row - 1) * ring; i < sides; i++, a++) order.push(a, a + 1, a + ring + 1, a, a + ring + 1, a + ring);
      }
    }
    const mesh = this.instanced([4, 4, 4, 4], 1);
    gl.bindVertexArray(mesh.array);
    this.attribute(new Float32Array(places), 0, 4);
    gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, gl.createBuffer());
    gl.bufferData(gl.ELEMENT_ARRAY_BUFFER, new Uint16Array(order), gl.STATIC_DRAW);
    gl.bindVertexArray(null);
    return { ...mesh, size: order.length };
  }

  /** A vertex array fed from one instance buffer, with fields of the given widths. */
  instanced(widths, firstLocation = 0) {
    const gl = this.gl, array = gl.createVertexArray(), buffer = gl.createBuffer(), stride = widths.reduce((a, b) => a + b) * 4;
    gl.bindVertexArray(array);
    gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
    let offset = 0;
    widths.forEach((width, i) => {
      gl.enableVertexAttribArray(firstLocation + i);
      gl.vertexAttribPointer(firstLocation + i, width, gl.FLOAT, false, stride, offset);
      gl.vertexAttribDivisor(firstLocation + i, 1);
      offset += width * 4;
    });
    gl.bindVertexArray(null);
    return { array, buffer };
  }

  attribute(values, location, width) {
    const gl = this.gl;
    gl.bindBuffer(gl.ARRAY_BUFFER, gl.createBuffer());
    gl.bufferData(gl.ARRAY_BUFFER, values, gl.STATIC_DRAW);
    gl.enableVertexAttribArray(location);
    gl.vertexAttribPointer(location, width, gl.FLOAT, false, 0, 0);
  }

  solidMesh({ at, normals }) {
    const gl = this.gl, array = gl.createVertexArray();
    gl.bindVertexArray(array);
    this.attribute(new Float32Array(at), 0, 3);
    this.attribute(new Float32Array(normals), 1, 3);
    gl.bindVertexArray(null);
    return { array, size: at.length / 3 };
  }

  upload(mesh, batch) {
    const gl = this.gl;
    gl.bindBuffer(gl.ARRAY_BUFFER, mesh.buffer);
    gl.bufferData(gl.ARRAY_BUFFER, batch.data.subarray(0, batch.count * batch.width), gl.DYNAMIC_DRAW);
  }

  uploadParts(batch) {
    const gl = this.gl, rows = Math.max(1, Math.ceil(batch.count / 256));
    if (!this.partsData || this.partsData.length < rows * 2048) this.partsData = new Float32Array(rows * 2048);
    for (let i = 0; i < batch.count; i++) this.partsData.set(batch.data.subarray(i * CONE, i * CONE + 8), i * 8);
    gl.activeTexture(gl.TEXTURE0 + UNITS.uParts);
    gl.bindTexture(gl.TEXTURE_2D, this.partsTexture);
    if (rows > this.partsRows) {
      gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA32F, 512, rows, 0, gl.RGBA, gl.FLOAT, null);
      this.partsRows = rows;
    }
    gl.texSubImage2D(gl.TEXTURE_2D, 0, 0, 0, 512, rows, gl.RGBA, gl.FLOAT, this.partsData, 0);
  }

  drawCones(program, mesh, count, values) {
    if (!count) return;
    this.use(program, values);
    this.gl.bindVertexArray(mesh.array);
    this.gl.drawElementsInstanced(this.gl.TRIANGLES, mesh.size, this.gl.UNSIGNED_SHORT, 0, count);
  }

  drawSolids(program, solids, values) {
    for (const s of solids) {
      this.use(program, { ...values, uModel: s.model, uSize: s.size, uColor: [...s.color, 1] });
      const mesh = this.solidMeshes[s.kind];
      this.gl.bindVertexArray(mesh.array);
      this.gl.drawArrays(this.gl.TRIANGLES, 0, mesh.size);
    }
  }

  drawStrips(program, mesh, batch, values) {
    if (!batch.count) return;
    this.upload(mesh, batch);
    this.use(program, values);
    this.gl.bindVertexArray(mesh.array);
    this.gl.drawArraysInstanced(this.gl.TRIANGLE_STRIP, 0, 4, batch.count);
  }

  /** Matches the drawing buffer to the element; true when it changed. */
  resize() {
    const ratio = Math.min(window.devicePixelRatio || 1, this.detail.ratio);
    const w = Math.max(1, Math.round(this.canvas.clientWidth * ratio)), h = Math.max(1, Math.round(this.canvas.clientHeight * ratio));
    this.ratio = ratio;
    if (this.canvas.width === w && this.canvas.height === h) return false;
    this.canvas.width = w; this.canvas.height = h;
    return true;
  }

  draw(scene, camera, look, floor, keyYaw) {
    const gl = this.gl, q = this.detail, P = this.programs;
    if (gl.isContextLost()) return;
    this.resize();
    const key = unit([Math.sin(keyYaw), 1.55, Math.cos(keyYaw)]);
    const light = this.lightFor(scene, key);
    this.upload(this.fine, scene.bodies);
    if (q.occlude) this.uploadParts(scene.bodies);
    this.drawShadow(scene, light);
    const half = scene.radius + 0.4;
    this.drawNear(scene, half, floor);

    const { width, height } = this.canvas;
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
    gl.viewport(0, 0, width, height);
    gl.clear(gl.DEPTH_BUFFER_BIT);
    const world = {
      ...look, uView: camera.matrix, uEye: camera.eye, uKey: key, uLight: light.matrix, uTaps: q.taps,
      uSpread: 0.055 / (2 * light.half), uBias: 0.012 + 3 * light.half / q.shadow,
      uFloor: floor, uPixels: [width, height], uOcclude: q.occlude,
    };

    gl.disable(gl.DEPTH_TEST); gl.disable(gl.BLEND);
    this.use(P.sky, world);
    gl.bindVertexArray(this.empty);
    gl.drawArrays(gl.TRIANGLES, 0, 3);

    gl.enable(gl.DEPTH_TEST); gl.enable(gl.CULL_FACE); gl.depthFunc(gl.LEQUAL);
    this.drawCones(P.body, this.fine, scene.bodies.count, world);
    this.drawSolids(P.solid, scene.solids, world);

    gl.enable(gl.BLEND); gl.blendFunc(gl.SRC_ALPHA, gl.ONE_MINUS_SRC_ALPHA); gl.depthMask(false);
    this.use(P.floor, {
      ...world, uCentre: camera.target, uReach: Math.max(14, camera.distance * 3.2), uGrid: scene.grid ? 1 : 0,
      uNearBox: [scene.centre[0], scene.centre[2], 2 * half, 0],
    });
    gl.bindVertexArray(this.empty);
    gl.drawArrays(gl.TRIANGLE_STRIP, 0, 4);
    gl.disable(gl.CULL_FACE);
    this.drawStrips(P.mark, this.marks, scene.marks, world);
    this.drawStrips(P.line, this.lines, scene.lines, world);
    gl.depthMask(true);
    this.drawGhosts(scene.ghosts, world);

    // The skeleton, rings and highlights go over everything, but hide each other properly.
    gl.clear(gl.DEPTH_BUFFER_BIT);
    if (scene.bones.count) {
      this.upload(this.plain, scene.bones);
      this.drawCones(P.bone, this.plain, scene.bones.count, { ...world, uOcclude: 0 });
    }
    gl.disable(gl.DEPTH_TEST);
    this.drawStrips(P.line, this.lines, scene.over, world);
  }

  /**
   * Ghosts show only their nearest surface: depth first, then colour. Growing them about the eye keeps them in place on
   * the screen but puts them behind the present pose.
   */
  drawGhosts(ghosts, world) {
    if (!ghosts.count) return;
    const gl = this.gl, grow = 1.07, away = scale(world.uEye, 1 - grow);
    const values = { ...world, uOcclude: 0, uView: multiply(world.uView, [grow, 0, 0, 0, 0, grow, 0, 0, 0, 0, grow, 0, ...away, 1]) };
    this.upload(this.plain, ghosts);
    gl.enable(gl.CULL_FACE);
    gl.colorMask(false, false, false, false);
    this.drawCones(this.programs.bodyDepth, this.plain, ghosts.count, values);
    gl.colorMask(true, true, true, true);
    this.drawCones(this.programs.ghost, this.plain, ghosts.count, values);
    gl.disable(gl.CULL_FACE);
  }

  /** A parallel light around the scene, moved in whole texels so that shadow edges do not crawl. */
  lightFor(scene, key) {
    const half = Math.ceil((scene.radius + 0.15) * 4) / 4, texel = 2 * half / this.detail.shadow;
    const x = unit(cross([0, 1, 0], key)), y = cross(key, x);
    const snap = (axis) => Math.round(dot(scene.centre, axis) / texel) * texel;
    const centre = add(add(scale(x, snap(x)), scale(y, snap(y))), scale(key, dot(scene.centre, key)));
    const view = lookAt(add(centre, scale(key, half * 3)), centre, [0, 1, 0]);
    return { half, matrix: multiply(orthographic(half, 0.1, half * 6), view) };
  }

  drawShadow(scene, light) {
    const gl = this.gl, values = { uView: light.matrix, uOcclude: 0 };
    gl.bindFramebuffer(gl.FRAMEBUFFER, this.shadowTarget);
    gl.viewport(0, 0, this.detail.shadow, this.detail.shadow);
    gl.enable(gl.DEPTH_TEST); gl.disable(gl.BLEND); gl.disable(gl.CULL_FACE); gl.depthMask(true);
    gl.clear(gl.DEPTH_BUFFER_BIT);
    gl.enable(gl.POLYGON_OFFSET_FILL); gl.polygonOffset(1.5, 3);
    this.drawCones(this.programs.bodyDepth, this.fine, scene.bodies.count, values);
    this.drawSolids(this.programs.solidDepth, scene.solids, values);
    gl.disable(gl.POLYGON_OFFSET_FILL);
  }

  drawNear(scene, half, floor) {
    const gl = this.gl, [x, , z] = scene.centre, size = this.detail.near, s = 1 / half;
    const values = { uView: [s, 0, 0, 0, 0, 0, 0.01, 0, 0, s, 0, 0, -x * s, -z * s, 0, 1], uOcclude: 0, uFloor: floor };
    const step = Math.max(0.016 / (2 * half), 1 / size);
    const [first, second] = this.nearMaps;
    gl.disable(gl.DEPTH_TEST); gl.disable(gl.CULL_FACE); gl.enable(gl.BLEND); gl.blendEquation(gl.MAX);
    gl.viewport(0, 0, size, size);
    gl.clearColor(0, 0, 0, 0);
    gl.bindFramebuffer(gl.FRAMEBUFFER, second.target);
    gl.clear(gl.COLOR_BUFFER_BIT);
    this.drawCones(this.programs.bodyNear, this.fine, scene.bodies.count, values);
    this.drawSolids(this.programs.solidNear, scene.solids, values);
    gl.blendEquation(gl.FUNC_ADD); gl.disable(gl.BLEND);
    gl.bindVertexArray(this.empty);
    gl.activeTexture(gl.TEXTURE0 + UNITS.uImage);
    for (const [from, to, direction] of [[second, first, [step, 0]], [first, second, [0, step]]]) {
      gl.bindFramebuffer(gl.FRAMEBUFFER, to.target);
      gl.bindTexture(gl.TEXTURE_2D, from.texture);
      this.use(this.programs.blur, { uStep: direction });
      gl.drawArrays(gl.TRIANGLES, 0, 3);
    }
  }
}

/** A unit cube about the origin. */
function boxMesh() {
  const at = [], normals = [];
  for (let axis = 0; axis < 3; axis++) {
    for (const side of [-1, 1]) {
      const n = [0, 0, 0], u = [0, 0, 0], v = [0, 0, 0];
      n[axis] = side; u[(axis + 1) % 3] = 0.5; v[(axis + 2) % 3] = 0.5 * side;
      const corner = (a, b) => add(scale(n, 0.5), add(scale(u, a), scale(v, b)));
      const [p, q, r, s] = [corner(-1, -1), corner(1, -1), corner(1, 1), corner(-1, 1)];
      at.push(...p, ...q, ...r, ...p, ...r, ...s);
      for (let i = 0; i < 6; i++) normals.push(...n);
    }
  }
  return { at, normals };
}

/** A cylinder of radius 1 and height 1 about the origin. */
function cylinderMesh(sides) {
  const at = [], normals = [];
  for (let i = 0; i < sides; i++) {
    const a = i / sides * 2 * Math.PI, b = (i + 1) / sides * 2 * Math.PI;
    const [p, q] = [[Math.sin(a), Math.cos(a)], [Math.sin(b), Math.cos(b)]];
    const point = ([x, z], y) => [x, y, z];
    at.push(...point(p, -0.5), ...point(q, -0.5), ...point(q, 0.5), ...point(p, -0.5), ...point(q, 0.5), ...point(p, 0.5));
    for (const side of [p, q, q, p, q, p]) normals.push(side[0], 0, side[1]);
    at.push(0, 0.5, 0, ...point(p, 0.5), ...point(q, 0.5), 0, -0.5, 0, ...point(q, -0.5), ...point(p, -0.5));
    normals.push(0, 1, 0, 0, 1, 0, 0, 1, 0, 0, -1, 0, 0, -1, 0, 0, -1, 0);
  }
  return { at, normals };
}

// ---------------------------------------------------------------------------------------------------------- camera

const FOV = 0.56;

class Camera {
  constructor() {
    this.yaw = 0.6; this.pitch = 0.2; this.distance = 4; this.offset = [0, 1, 0];
    this.width = 1; this.height = 1; this.move = null;
    this.inset = 0;   // pixels covered on the right; the middle of the picture moves left by half of it
  }

  /** Recomputes the matrices for an anchor (the point being followed, or the origin). */
  update(anchor, width, height) {
    this.width = Math.max(width, 1); this.height = Math.max(height, 1);
    this.target = add(this.offset, anchor);
    const c = Math.cos(this.pitch);
    this.back = [Math.sin(this.yaw) * c, Math.sin(this.pitch), Math.cos(this.yaw) * c];
    this.eye = add(this.target, scale(this.back, this.distance));
    this.right = [Math.cos(this.yaw), 0, -Math.sin(this.yaw)];
    this.up = cross(this.back, this.right);
    const near = Math.max(0.02, this.distance * 0.02);
    const lens = perspective(FOV, this.width / this.height, near, this.distance * 8 + 60, this.inset / this.width);
    this.matrix = multiply(lens, lookAt(this.eye, this.target, this.up));
  }

  orbit(dx, dy) {
    this.move = null;
    this.yaw -= dx; this.pitch = clamp(this.pitch + dy, -0.35, Math.PI / 2 - 0.001);
  }

  pan(dx, dy) {
    this.move = null;
    const s = this.metresPerPixel(this.distance);
    this.offset = add(this.offset, add(scale(this.right, -dx * s), scale(this.up, dy * s)));
  }

  zoom(factor) { this.move = null; this.distance = clamp(this.distance * factor, 0.25, 200); }

  metresPerPixel(depth) { return 2 * depth * Math.tan(FOV / 2) / this.height; }

  /** Screen position in CSS pixels and depth; null behind the eye. */
  project([x, y, z]) {
    const m = this.matrix, w = m[3] * x + m[7] * y + m[11] * z + m[15];
    if (w < 0.02) return null;
    const cx = (m[0] * x + m[4] * y + m[8] * z + m[12]) / w, cy = (m[1] * x + m[5] * y + m[9] * z + m[13]) / w;
    return [(cx * 0.5 + 0.5) * this.width, (0.5 - cy * 0.5) * this.height, w];
  }

  /** Direction from the eye through a point of the screen. */
  ray(x, y) {
    const t = Math.tan(FOV / 2), sx = ((x * 2 + this.inset) / this.width - 1) * t * this.width / this.height, sy = (1 - y / this.height * 2) * t;
    return unit(add(add(scale(this.right, sx), scale(this.up, sy)), scale(this.back, -1)));
  }

  /** Goes to see a box whole from the given angles. */
  frame({ low, high }, yaw, pitch, anchor, smooth) {
    const centre = scale(add(low, high), 0.5), c = Math.cos(pitch);
    const back = [Math.sin(yaw) * c, Math.sin(pitch), Math.cos(yaw) * c], right = [Math.cos(yaw), 0, -Math.sin(yaw)], up = cross(back, right);
    const ty = Math.tan(FOV / 2) * 0.93, tx = ty * (this.width - this.inset) / this.height;
    let distance = 1;
    for (let i = 0; i < 8; i++) {
      const p = sub([i & 1 ? high[0] : low[0], i & 2 ? high[1] : low[1], i & 4 ? high[2] : low[2]], centre);
      distance = Math.max(distance, dot(p, back) + Math.max(Math.abs(dot(p, right)) / tx, Math.abs(dot(p, up)) / ty));
    }
    const turn = Math.atan2(Math.sin(yaw - this.yaw), Math.cos(yaw - this.yaw));
    const to = { yaw: this.yaw + turn, pitch, distance, offset: sub(centre, anchor) };
    if (!smooth) { Object.assign(this, to); this.move = null; return; }
    this.move = { from: { yaw: this.yaw, pitch: this.pitch, distance: this.distance, offset: this.offset }, to, start: performance.now() };
  }

  /** Advances a camera move; true while it lasts. */
  glide(now) {
    if (!this.move) return false;
    const { from, to, start } = this.move, t = clamp((now - start) / 380, 0, 1), s = t * t * (3 - 2 * t);
    this.yaw = lerp(from.yaw, to.yaw, s); this.pitch = lerp(from.pitch, to.pitch, s); this.distance = lerp(from.distance, to.distance, s);
    this.offset = mix3(from.offset, to.offset, s);
    if (t >= 1) this.move = null;
    return true;
  }
}

// ---------------------------------------------------------------------------------------------------------- picking

/** Distance along a ray to a capsule with ends a and b, or Infinity. */
function rayCapsule(eye, ray, a, b, r) {
  const ba = sub(b, a), oa = sub(eye, a), baba = dot(ba, ba), bard = dot(ba, ray), baoa = dot(ba, oa);
  const A = baba - bard * bard, B = baba * dot(ray, oa) - baoa * bard, C = baba * dot(oa, oa) - baoa * baoa - r * r * baba, h = B * B - A * C;
  if (A > 1e-9 && h >= 0) {
    const t = (-B - Math.sqrt(h)) / A, y = baoa + t * bard;
    if (y > 0 && y < baba) return t > 0 ? t : Infinity;
  }
  let best = Infinity;
  for (const centre of [a, b]) {
    const oc = sub(eye, centre), p = dot(ray, oc), q = p * p - dot(oc, oc) + r * r;
    if (q >= 0 && -p - Math.sqrt(q) > 0) best = Math.min(best, -p - Math.sqrt(q));
  }
  return best;
}

/** The joint meant by a point of the screen: on a body, the nearest joint of the part hit; beside one, a joint close by. */
function pickJoint(take, camera, x, y, bodiesShown) {
  const ray = camera.ray(x, y), shown = take.characters.filter((c) => c.visible);
  let hit = null, reach = Infinity;
  if (bodiesShown) {
    for (const c of shown) {
      for (const p of c.parts) {
        const e = partEnds(c.pose, p), t = rayCapsule(camera.eye, ray, e.slice(0, 3), e.slice(4, 7), (e[3] + e[7]) / 2);
        if (t < reach) { reach = t; hit = { c, part: p }; }
      }
    }
  }
  let best = null, score = hit ? Infinity : 18;
  for (const c of hit ? [hit.c] : shown) {
    for (let j = 0; j < c.count; j++) {
      if (hit && j !== hit.part[0] && j !== hit.part[5] && c.parents[j] !== hit.part[0]) continue;
      const s = camera.project(poseJoint(c.pose, j));
      if (!s) continue;
      const d = Math.hypot(s[0] - x, s[1] - y);
      if (d < score) { score = d; best = { character: c.index, joint: j }; }
    }
  }
  return best;
}

// ---------------------------------------------------------------------------------------------------------- small page helpers

const $ = (id) => document.getElementById(id);

function make(tag, attributes = {}, ...children) {
  const e = document.createElement(tag);
  for (const [k, v] of Object.entries(attributes)) {
    if (k === "own") e.style.setProperty("--own", v);
    else if (k === "left" || k === "width") e.style[k] = v;
    else e.setAttribute(k, v);
  }
  e.append(...children);
  return e;
}

const ICONS = {
  play: '<path class="solid" d="M6 3.5v13l10.5-6.5z"/>',
  pause: '<path class="solid" d="M5.5 4h3v12h-3zM11.5 4h3v12h-3z"/>',
  back: '<path class="solid" d="M13 4.5v11L5.5 10z"/><path d="M15.5 5v10"/>',
  forward: '<path class="solid" d="M7 4.5v11l7.5-5.5z"/><path d="M4.5 5v10"/>',
  start: '<path class="solid" d="M16 4.5v11L8.5 10z"/><path d="M5 4.5v11"/>',
  end: '<path class="solid" d="M4 4.5v11l7.5-5.5z"/><path d="M15 4.5v11"/>',
  loop: '<path d="M4 9.5V8a3 3 0 0 1 3-3h8M12.5 2.5 15 5l-2.5 2.5M16 10.5v1.5a3 3 0 0 1-3 3H5M7.5 17.5 5 15l2.5-2.5"/>',
  theme: '<circle cx="10" cy="10" r="6.5"/><path class="solid" d="M10 3.5a6.5 6.5 0 0 1 0 13z"/>',
  help: '<circle cx="10" cy="10" r="7"/><path d="M8 8a2 2 0 1 1 2.8 1.85c-.5.25-.8.65-.8 1.4"/><circle class="solid" cx="10" cy="13.7" r=".9"/>',
  panel: '<path d="M3 6h7M15 6h2M3 14h2M10 14h7"/><circle cx="12.5" cy="6" r="2"/><circle cx="7.5" cy="14" r="2"/>',
};

function setIcon(button, name) {
  button.innerHTML = `<svg viewBox="0 0 20 20" aria-hidden="true">${ICONS[name]}</svg>`;
}

function clock(seconds) {
  const ms = Math.round(seconds * 1000), s = Math.floor(ms / 1000);
  return `${Math.floor(s / 60)}:${String(s % 60).padStart(2, "0")}.${String(ms % 1000).padStart(3, "0")}`;
}

const fixed = (x, digits) => (Math.abs(x) < 0.5 * 10 ** -digits ? 0 : x).toFixed(digits).replace("-", "\u2212");

const KIND_COLORS = {
  attack: "#d9534a", avoid: "#2fa39b", block: "#3f7fd0", brace: "#6a73d4", step: "#7a9a3e", turn: "#a3893a", walk: "#5f9a55", run: "#3d9a72",
  idle: "#7d8590", react: "#c7702e", down: "#9a5a46", up: "#b0784f",
  hit: "#e0503f", miss: "#8d96a2", dodge: "#2fa39b", fall: "#c7702e",
};

/** A steady colour for every kind, known or not. */
function kindColor(kind) {
  if (KIND_COLORS[kind]) return KIND_COLORS[kind];
  let turn = 0;
  for (const ch of String(kind)) turn = (turn * 31 + ch.codePointAt(0)) % 360;
  const channel = (n) => Math.round(133 + 50 * Math.cos((turn - n) * Math.PI / 180)).toString(16).padStart(2, "0");
  return `#${channel(0)}${channel(120)}${channel(240)}`;
}

// ---------------------------------------------------------------------------------------------------------- player

const SPEEDS = [0.1, 0.25, 0.5, 0.75, 1, 1.5, 2];
const TRAIL_SECONDS = 0.9;
const SWITCHES = [
  ["body", "Bodies", "B"], ["skeleton", "Skeleton", "S"], ["trails", "Trails", "T"], ["contacts", "Contacts", "C"],
  ["names", "Names", "N"], ["grid", "Grid", "X"], ["follow", "Follow", "V"],
];

class Player {
  constructor(take, options) {
    this.take = take;
    this.time = 0; this.playing = false; this.speed = 1; this.loop = true; this.range = null;
    this.show = {
      body: true, skeleton: take.characters.every((c) => !c.parts.length), trails: false, contacts: true,
      names: take.characters.length > 1, grid: true, follow: this.travel() > 2.5,
    };
    this.ghosts = "off";
    this.ghostStep = Math.max(1, Math.round(take.fps / 6));
    this.hover = null; this.pinned = null;
    this.camera = new Camera();
    this.scene = emptyScene();
    this.still = matchMedia("(prefers-reduced-motion: reduce)");
    this.theme = options.theme || stored("kumite-theme") || (matchMedia("(prefers-color-scheme: light)").matches ? "light" : "dark");
    this.ghostPose = new Map(take.characters.map((c) => [c, { at: new Float32Array(c.count * 3), turn: new Float32Array(c.count * 4) }]));
    this.heading = this.findHeading();
    this.keyYaw = this.heading + 1.35;
    this.pace = { total: 0, count: 0 };
    this.dirty = true;
  }

  get frame() { return Math.floor(this.time * this.take.fps + 1e-4); }

  // -- what the camera should look at

  /** How far, in metres over the ground, the farthest-going character wanders. */
  travel() {
    return this.take.characters.reduce((most, c) => {
      const low = [Infinity, Infinity], high = [-Infinity, -Infinity];
      for (let f = 0; f < c.frames; f++) {
        for (let k = 0; k < 2; k++) {
          const x = c.root[f * 3 + 2 * k];
          low[k] = Math.min(low[k], x); high[k] = Math.max(high[k], x);
        }
      }
      return Math.max(most, high[0] - low[0], high[1] - low[1]);
    }, 0);
  }

  /** Yaw of a good first view: beside two people facing each other, else half in front of the first one. */
  findHeading() {
    const [a, b] = this.take.characters, middle = this.take.frames / 2;
    if (!a) return 0.6;
    if (b && this.take.characters.length === 2) {
      const d = sub(jointAt(b, 0, middle), jointAt(a, 0, middle));
      if (Math.hypot(d[0], d[2]) > 0.3) return Math.atan2(d[0], d[2]) - Math.PI / 2 - 0.3;
    }
    return this.facing(a, 0) + 0.6;
  }

  /** Direction the feet point to at a frame. */
  facing(c, frame) {
    const m = c.landmarks;
    let d = [0, 0, 0];
    for (const side of ["left", "right"]) {
      const heel = m[`${side}_heel`], toe = m[`${side}_toe`];
      if (heel !== undefined && toe !== undefined) d = add(d, unit(sub(jointAt(c, toe, frame), jointAt(c, heel, frame))));
    }
    return Math.hypot(d[0], d[2]) > 0.1 ? Math.atan2(d[0], d[2]) : 0;
  }

  /** The point the camera follows: the middle of the cast (or of the pinned character), smoothed over half a second. */
  anchor() {
    if (!this.show.follow) return [0, 0, 0];
    const cast = this.pinned ? [this.take.characters[this.pinned.character]] : this.take.characters.filter((c) => c.visible);
    if (!cast.length) return [0, 0, 0];
    let sum = [0, 0, 0];
    for (const c of cast) for (let k = -4; k <= 4; k++) sum = add(sum, jointAt(c, 0, this.time * this.take.fps + k * this.take.fps / 16));
    sum = scale(sum, 1 / (9 * cast.length));
    return [sum[0], 0, sum[2]];
  }

  setFollow(on) {
    const target = this.camera.target;
    this.show.follow = on;
    this.camera.move = null;
    this.camera.offset = sub(target, this.anchor());
  }

  view(which, smooth = !this.still.matches) {
    const c = this.pinned ? this.take.characters[this.pinned.character] : this.take.characters[0];
    const front = c ? this.facing(c, this.time * this.take.fps) : 0;
    const angles = { frame: [this.heading, 0.2], front: [front, 0.06], side: [front - Math.PI / 2, 0.06], top: [front, Math.PI / 2 - 0.001] }[which];
    const now = this.time * this.take.fps;
    const box = this.show.follow ? boundsOver(this.take, now, now) : boundsOver(this.take, 0, this.take.frames - 1);
    if (this.show.follow) { box.low = sub(box.low, [0.25, 0, 0.25]); box.high = add(box.high, [0.25, 0.2, 0.25]); }
    this.camera.frame(box, angles[0], angles[1], this.anchor(), smooth);
    this.dirty = true;
  }

  // -- time

  seek(seconds) {
    this.time = clamp(seconds, 0, this.take.duration);
    this.dirty = true;
  }

  seekFrame(frame) { this.pause(); this.seek(clamp(frame, 0, this.take.frames - 1) / this.take.fps); }

  /** Goes n whole frames on or back, from between frames to the next whole one. */
  step(n) {
    const f = this.time * this.take.fps;
    this.seekFrame((n > 0 ? Math.floor(f + 1e-4) : Math.ceil(f - 1e-4)) + n);
  }

  play() {
    const [, end] = this.bounds();
    if (this.time >= end - 1e-6) this.time = this.bounds()[0];
    this.playing = this.take.duration > 0;
    this.dirty = true;
  }

  pause() {
    if (this.playing) this.time = Math.round(this.time * this.take.fps) / this.take.fps;
    this.playing = false;
    this.dirty = true;
  }

  bounds() { return this.range || [0, this.take.duration]; }

  setRange(from, to) {
    const edge = 1 / this.take.fps;
    this.range = to - from >= edge - 1e-9 && (from > 0 || to < this.take.duration) ? [from, to] : null;
    this.dirty = true;
  }

  advance(dt) {
    const [start, end] = this.bounds();
    let t = this.time + dt * this.speed;
    if (t > end) {
      if (this.loop) t = start + (t - end) % Math.max(end - start, 1e-6);
      else { t = end; this.playing = false; }
    }
    this.seek(t);
  }

  // -- the picture

  buildScene() {
    const { take, scene, show } = this, now = this.time * take.fps;
    scene.clear();
    scene.grid = show.grid;
    for (const c of take.characters) samplePose(c, now, c.pose);
    const shown = take.characters.filter((c) => c.visible);
    if (show.body) for (const c of shown) this.addBody(scene.bodies, c, c.pose, 1, null);
    this.addProps();
    this.fitLight(shown);
    if (this.ghosts !== "off") this.addGhosts(shown, now);
    if (show.skeleton) for (const c of shown) this.addBones(c);
    if (show.trails) for (const c of shown) this.addTrails(c, now);
    if (show.contacts) for (const c of shown) this.addContacts(c, now);
    this.addEventRings();
    for (const pick of [this.pinned, this.hover]) this.addHighlight(pick);
  }

  addBody(batch, c, pose, alpha, tint) {
    const first = batch.count, last = first + c.parts.length;
    c.parts.forEach((p, i) => {
      const o = batch.next(), e = partEnds(pose, p), color = tint || c.tints[p[10]] || c.tints[0], d = batch.data;
      for (let k = 0; k < 8; k++) d[o + k] = e[k];
      d[o + 8] = color[0]; d[o + 9] = color[1]; d[o + 10] = color[2]; d[o + 11] = alpha;
      d[o + 12] = first; d[o + 13] = last; d[o + 14] = first + c.runs[i][0]; d[o + 15] = first + c.runs[i][1];
    });
  }

  addProps() {
    for (const p of this.take.props) {
      const place = propAt(p, this.time);
      if (!place) continue;
      const color = linear(p.color), { at, turn } = place;
      if (p.kind === "sphere" || p.kind === "capsule") {
        const half = p.kind === "sphere" ? [0, 0, 0] : rotate(turn, 0, 0, Math.max(p.height / 2 - p.radius, 0), 0);
        this.scene.bodies.push(...sub(at, half), p.radius, ...add(at, half), p.radius, ...color, 1, 0, 0, 0, 0);
      } else {
        const size = p.kind === "box" ? p.size : [p.radius, p.height, p.radius];
        this.scene.solids.push({ kind: p.kind, model: placement(at, turn), size, color });
      }
    }
  }

  /** The ball the shadow maps must cover. */
  fitLight(shown) {
    const { low, high } = boundsOver(this.take, this.time * this.take.fps, this.time * this.take.fps, true);
    const centre = scale(add(low, high), 0.5);
    this.scene.centre = shown.length ? centre : [centre[0], this.take.floor + 0.9, centre[2]];
    this.scene.radius = Math.min(14, Math.ceil(Math.hypot(...sub(high, low)) * 0.5 * 4 + 1) / 4);
  }

  ghostFrames(now) {
    const last = this.take.frames - 1, step = this.ghostStep, frames = [];
    if (this.ghosts === "near") {
      const base = Math.round(now);
      for (let k = 1; k <= 4; k++) frames.push(base - k * step, base + k * step);
      return frames.filter((f) => f >= 0 && f <= last);
    }
    const parts = this.take.characters.reduce((n, c) => n + (c.visible ? c.parts.length : 0), 0);
    const most = Math.max(4, Math.floor(1800 / Math.max(parts, 1))), stride = Math.max(step, Math.ceil(last / most));
    for (let f = 0; f <= last; f += stride) frames.push(f);
    return frames;
  }

  addGhosts(shown, now) {
    const dark = this.theme === "dark", near = this.ghosts === "near", reach = near ? this.ghostStep * 6 : this.take.frames * 1.6;
    const past = linear(dark ? "#7fb2ff" : "#3a78cc"), future = linear(dark ? "#ffb070" : "#cc7026");
    for (const f of this.ghostFrames(now)) {
      const strength = (near ? 0.9 : 0.7) * (1 - Math.abs(f - now) / reach);
      for (const c of shown) {
        const tint = mix3(linear(c.color), f < now ? past : future, near ? 0.8 : 0.5);
        this.addBody(this.scene.ghosts, c, samplePose(c, f, this.ghostPose.get(c)), strength, tint);
      }
    }
  }

  /** Bones as slim cones of constant width on the screen. */
  addBones(c) {
    const color = this.theme === "dark" ? [0.86, 0.88, 0.92] : [0.03, 0.035, 0.045], own = linear(c.color);
    for (let j = 0; j < c.count; j++) {
      const at = poseJoint(c.pose, j), pixel = this.pixelAt(at), parent = c.parents[j];
      this.scene.bones.push(...at, 2.9 * pixel, ...at, 2.9 * pixel, ...own, 1, 0, 0, 0, 0);
      if (parent < 0) continue;
      const from = poseJoint(c.pose, parent);
      this.scene.bones.push(...from, 1.9 * this.pixelAt(from), ...at, 0.8 * pixel, ...color, 1, 0, 0, 0, 0);
    }
  }

  pixelAt(p) { return this.camera.metresPerPixel(Math.max(0.05, dot(sub(this.camera.eye, p), this.camera.back))); }

  trailJoints(c) {
    const m = c.landmarks, joints = [m.left_hand, m.right_hand, m.left_toe, m.right_toe].filter((j) => j !== undefined);
    if (this.pinned && this.pinned.character === c.index && !joints.includes(this.pinned.joint)) joints.push(this.pinned.joint);
    return joints;
  }

  /** Paths of hands and feet: solid behind, faint ahead, with dots a twelfth of a second apart where the joint moves. */
  addTrails(c, now) {
    const { fps } = this.take, span = TRAIL_SECONDS * fps, width = 1.5 * this.renderer.ratio, m = c.landmarks;
    const stride = Math.max(1, Math.round(fps / 60)), dots = Math.max(1, Math.round(fps / 12));
    const first = Math.max(c.start, Math.ceil((now - span) / stride) * stride), last = Math.min(c.start + c.frames - 1, now + span);
    for (const j of this.trailJoints(c)) {
      const color = mix3(c.tints[j === m.left_hand || j === m.left_toe ? 3 : 7] || c.tints[0], this.theme === "dark" ? [1, 1, 1] : [0, 0, 0], 0.4);
      const strength = (f) => (f <= now ? 0.95 : 0.38) * (1 - Math.abs(f - now) / span) ** 0.8;
      let f = first, p = jointAt(c, j, f), dotted = p;
      const stops = [];
      for (let k = first + stride; k < last; k += stride) stops.push(k);
      if (now > first && now < last) stops.push(now);
      stops.push(last);
      for (const next of stops.sort((a, b) => a - b)) {
        const q = jointAt(c, j, next), past = (f + next) / 2 <= now;
        const from = strength(past ? f : Math.max(f, now + 1e-3)), to = strength(past ? Math.min(next, now) : next);
        this.scene.lines.push(...p, past ? width : width * 0.7, ...q, 0, ...color, from, ...color, to);
        if (next !== now && next % dots === 0 && Math.hypot(...sub(q, dotted)) > 0.04) {
          this.scene.lines.push(...q, width * 1.7, ...q, 0, ...color, strength(next), ...color, strength(next));
          dotted = q;
        }
        f = next; p = q;
      }
    }
  }

  /** Marks under planted feet; they turn from green to red as a planted foot slides. */
  addContacts(c, now) {
    if (!c.contacts) return;
    const bits = c.contacts[clamp(Math.round(now - c.start), 0, c.frames - 1)], m = c.landmarks;
    const steady = linear(this.theme === "dark" ? "#52d39a" : "#0f9f66"), sliding = linear("#e5483d");
    for (const [heel, toe, heelBit, toeBit] of [["left_heel", "left_toe", 1, 2], ["right_heel", "right_toe", 4, 8]]) {
      const down = [[heel, heelBit], [toe, toeBit]].filter(([name, bit]) => bits & bit && m[name] !== undefined).map(([name]) => m[name]);
      if (!down.length) continue;
      const a = poseJoint(c.pose, down[0]), b = poseJoint(c.pose, down[down.length - 1]);
      const v = jointVelocity(c, down[down.length - 1], now, this.take.fps), slide = clamp((Math.hypot(v[0], v[2]) - 0.15) / 0.6, 0, 1);
      this.scene.marks.push(a[0], a[2], b[0], b[2], 0.068, 0.3, ...mix3(steady, sliding, slide), 0.9);
    }
  }

  /** A ring where an event happens, for a moment. */
  addEventRings() {
    for (const e of this.take.events) {
      const age = this.time - e.time;
      if (!e.at || age < -0.02 || age > 0.5) continue;
      const grow = this.still.matches ? 0.4 : clamp(age / 0.5, 0, 1), r = this.renderer.ratio, color = linear(kindColor(e.kind));
      this.scene.over.push(...e.at, (9 + 16 * Math.sqrt(grow)) * r, ...e.at, 2.2 * r, ...color, 1 - grow * 0.8, ...color, 1 - grow * 0.8);
    }
  }

  addHighlight(pick) {
    if (!pick || !this.take.characters[pick.character].visible) return;
    const c = this.take.characters[pick.character], p = poseJoint(c.pose, pick.joint), parent = c.parents[pick.joint], r = this.renderer.ratio;
    const ink = this.theme === "dark" ? [1, 1, 1] : [0.02, 0.02, 0.03], back = this.theme === "dark" ? [0, 0, 0] : [1, 1, 1];
    if (parent >= 0) {
      const q = poseJoint(c.pose, parent);
      this.scene.over.push(...q, 2.2 * r, ...p, 0, ...back, 0.35, ...back, 0.35);
      this.scene.over.push(...q, 1.1 * r, ...p, 0, ...ink, 0.35, ...ink, 0.9);
    }
    this.scene.over.push(...p, 7.5 * r, ...p, 0, ...back, 0.4, ...back, 0.4);
    this.scene.over.push(...p, 6.5 * r, ...p, 1.8 * r, ...ink, 1, ...ink, 1);
    this.scene.over.push(...p, 2.4 * r, ...p, 0, ...ink, 1, ...ink, 1);
  }

  /** Draws the present moment; `still` asks for the richest picture, else one quick enough to play. */
  draw(still) {
    const { canvas } = this.renderer, level = still ? this.stillLevel : this.moveLevel;
    if (level !== this.renderer.quality) this.renderer.setQuality(level);
    this.camera.update(this.anchor(), canvas.clientWidth, canvas.clientHeight);
    this.renderer.resize();
    this.buildScene();
    this.renderer.draw(this.scene, this.camera, LOOKS[this.theme], this.take.floor, this.keyYaw);
  }

  useRenderer(renderer, fixedLevel) {
    const parts = this.take.characters.reduce((n, c) => n + c.parts.length, 0);
    this.renderer = renderer;
    this.moveLevel = fixedLevel ?? renderer.quality;
    this.stillLevel = fixedLevel ?? (renderer.software && parts > 80 ? 1 : 2);
    this.fixedLevel = fixedLevel !== null;
  }

  /** Lowers the level of detail when playing stays slow. */
  watchPace(dt) {
    const pace = this.pace;
    pace.total += dt;
    if (++pace.count < 24) return;
    if (pace.total / pace.count > 0.042 && this.moveLevel > 0 && !this.fixedLevel) this.moveLevel--;
    pace.total = pace.count = 0;
  }
}

function stored(key) {
  try { return localStorage.getItem(key); } catch { return null; }
}

function store(key, value) {
  try { localStorage.setItem(key, value); } catch { /* private windows keep nothing */ }
}

// ---------------------------------------------------------------------------------------------------------- page

const KEYS_HELP = [
  ["Playback", [
    ["Play or pause", "Space"], ["One frame back, forward", ["\u2190 \u2192", ", ."]], ["Ten frames", "Shift , ."], ["Start, end", ["Home", "End"]],
    ["Slower, faster", ["[", "]"]], ["Loop on or off", "L"], ["Loop from here, to here, all", ["I", "O", "U"]], ["Previous, next event", ["J", "K"]],
  ]],
  ["Camera", [
    ["Orbit", "Drag"], ["Pan", "Right drag, Shift drag"], ["Zoom", "Wheel, pinch"], ["Pan and zoom by touch", "Two fingers"],
    ["Orbit, zoom by keyboard", ["Shift \u2190\u2191\u2192\u2193", "+ \u2212"]], ["Frame everything", "F"],
    ["Front, side, top", ["1", "2", "3"]], ["Follow the motion", "V"],
  ]],
  ["Show", [
    ["Bodies, skeleton", ["B", "S"]], ["Hand and foot trails", "T"], ["Contact marks", "C"], ["Names, grid", ["N", "X"]], ["Ghost poses", "G"],
    ["View panel", "P"], ["Dark or light", "D"],
  ]],
  ["Reading the picture", [
    ["Joint details", "Point at a body"], ["Keep a joint", "Click it; Esc lets go"], ["Green mark", "Planted foot"], ["Red mark", "Planted foot that slides"],
    ["Solid block in an interval", "Its active window"], ["Loop an interval", "Double-click it"], ["Zoom the time line", "Ctrl and wheel on it"],
  ]],
];

class Page {
  constructor(player) {
    this.player = player;
    this.take = player.take;
    this.zoom = 1;
    this.canvas = $("view");
    this.fillHeader();
    this.fillCast();
    this.fillSwitches();
    this.fillTransport();
    this.fillTimeline();
    this.fillHelp();
    this.bindPanel();
    this.bindTimeline();
    this.bindCanvas();
    addEventListener("keydown", (e) => this.key(e));
    // After a mouse click or a choice the keyboard goes back to the player.
    addEventListener("click", (e) => { if (e.detail > 0 && e.target.closest) e.target.closest("button")?.blur(); });
    addEventListener("change", (e) => { if (e.target.tagName === "SELECT") e.target.blur(); });
    matchMedia("(prefers-color-scheme: light)").addEventListener("change", (e) => {
      if (!stored("kumite-theme")) { player.theme = e.matches ? "light" : "dark"; this.applyTheme(); }
    });
    this.applyTheme();
  }

  // -- building

  fillHeader() {
    const { take } = this, n = take.characters.length;
    $("title").textContent = take.title;
    $("title").title = take.title;
    const facts = [`${+take.duration.toFixed(2)} s`, `${take.frames} frames`, `${+take.fps.toFixed(3)} fps`];
    if (n > 1) facts.unshift(`${n} characters`);
    if (take.note) facts.unshift(take.note);
    $("facts").textContent = facts.join("  \u00b7  ");
    setIcon($("theme"), "theme"); setIcon($("help-open"), "help"); setIcon($("panel-open"), "panel");
  }

  fillCast() {
    this.doing = [];
    this.labels = [];
    for (const c of this.take.characters) {
      const doing = make("span", { class: "doing" });
      const look = { type: "button", "aria-pressed": "true", title: "Show or hide", own: c.color };
      const button = make("button", look, make("span", { class: "dot" }), make("span", { class: "name" }, c.name), doing);
      button.addEventListener("click", () => {
        c.visible = !c.visible;
        button.setAttribute("aria-pressed", c.visible);
        this.player.dirty = true;
      });
      $("cast").append(make("li", {}, button));
      this.doing.push(doing);
      const label = make("span", { own: c.color }, c.name);
      $("labels").append(label);
      this.labels.push(label);
    }
    if (!this.take.characters.length) $("cast").append(make("li", {}, "None"));
  }

  fillSwitches() {
    const { take } = this;
    const missing = {
      body: !take.characters.some((c) => c.parts.length), contacts: !take.characters.some((c) => c.contacts),
      trails: !take.characters.some((c) => Object.keys(c.landmarks).length),
    };
    this.switches = {};
    for (const [name, text, key] of SWITCHES) {
      const b = make("button", { type: "button", title: `${text} (${key})` }, text);
      b.disabled = Boolean(missing[name]);
      b.addEventListener("click", () => this.toggle(name));
      $("switches").append(b);
      this.switches[name] = b;
    }
    $("ghost-step").value = this.player.ghostStep;
    if (missing.body) $("ghosts").disabled = true;
    this.syncSwitches();
  }

  syncSwitches() {
    for (const [name] of SWITCHES) this.switches[name].setAttribute("aria-pressed", this.player.show[name] && !this.switches[name].disabled);
    $("ghosts").value = this.player.ghosts;
  }

  toggle(name) {
    if (this.switches[name].disabled) return;
    if (name === "follow") this.player.setFollow(!this.player.show.follow);
    else this.player.show[name] = !this.player.show[name];
    this.player.dirty = true;
    this.syncSwitches();
  }

  /** Chooses the ghosts, and a step that suits them until the reader sets one. */
  setGhosts(value) {
    const { player } = this;
    player.ghosts = value;
    if (!this.ownStep) player.ghostStep = Math.max(1, Math.round(value === "all" ? this.take.frames / 12 : this.take.fps / 6));
    $("ghost-step").value = player.ghostStep;
    player.dirty = true;
    this.syncSwitches();
  }

  fillTransport() {
    const { player, take } = this;
    for (const [id, icon, act] of [
      ["to-start", "start", () => player.seekFrame(0)], ["back", "back", () => player.step(-1)], ["play", "play", () => this.togglePlay()],
      ["forward", "forward", () => player.step(1)], ["to-end", "end", () => player.seekFrame(take.frames - 1)],
      ["loop", "loop", () => { player.loop = !player.loop; player.dirty = true; }],
    ]) {
      setIcon($(id), icon);
      $(id).addEventListener("click", act);
    }
    for (const s of SPEEDS) $("speed").append(make("option", { value: s }, `${s}\u00d7`));
    $("speed").value = 1;
    $("speed").addEventListener("change", () => { player.speed = Number($("speed").value); });
    $("time-all").textContent = `/ ${clock(take.duration)}`;
    $("frame-all").textContent = `/ ${take.frames - 1}`;
    document.documentElement.style.setProperty("--digits", `${String(take.frames - 1).length}ch`);
  }

  togglePlay() { if (this.player.playing) this.player.pause(); else this.player.play(); }

  changeSpeed(by) {
    const i = clamp(SPEEDS.indexOf(this.player.speed) + by, 0, SPEEDS.length - 1);
    this.player.speed = SPEEDS[i];
    $("speed").value = SPEEDS[i];
  }

  percent(t) { return `${this.take.duration > 0 ? clamp(t / this.take.duration, 0, 1) * 100 : 0}%`; }

  fillTimeline() {
    this.fillRuler();
    const { take } = this;
    $("ruler").setAttribute("aria-valuemax", take.duration.toFixed(3));
    $("events").classList.toggle("some", take.events.length > 0);
    $("gutter").append(make("div", { class: "head" }));
    if (take.events.length) $("gutter").append(make("div", { class: "events-head" }, make("span", {}, "Events")));
    for (const e of take.events) {
      const text = `${clock(e.time)}  ${e.kind}${e.text ? `: ${e.text}` : ""}`;
      const b = make("button", { type: "button", title: text, "aria-label": text, own: kindColor(e.kind), left: this.percent(e.time) });
      b.addEventListener("click", () => { this.player.pause(); this.player.seek(e.time); });
      $("events").append(b);
    }
    this.spanButtons = [];
    for (const c of take.characters) this.fillLanes(c);
    if ($("lanes").childElementCount > 6) document.documentElement.style.setProperty("--lane", "17px");
  }

  /** One lane per character; more where its spans overlap. */
  fillLanes(c) {
    const lanes = [];
    const spans = c.spans.filter((s) => s.from < this.take.duration && s.to > 0).sort((a, b) => a.from - b.from);
    for (const s of spans) {
      let lane = lanes.find((l) => l.until <= s.from + 1e-6);
      if (!lane) {
        lane = { until: 0, element: make("div", { class: "lane" }) };
        $("lanes").append(lane.element);
        const head = [make("span", { class: "dot" }), make("span", {}, c.name)];
        $("gutter").append(make("div", { own: c.color, title: c.name }, ...(lanes.length ? [] : head)));
        lanes.push(lane);
      }
      lane.until = s.to;
      lane.element.append(this.spanButton(c, s));
    }
  }

  spanButton(c, s) {
    const from = Math.max(s.from, 0), length = Math.max(Math.min(s.to, this.take.duration) - from, 1e-6), name = s.label || s.kind;
    let text = `${c.name}: ${s.label && s.label !== s.kind ? `${s.label} (${s.kind})` : s.kind}, ${s.from.toFixed(2)} to ${s.to.toFixed(2)} s`;
    const share = length / Math.max(this.take.duration, 1e-6) * 100;
    const b = make("button", { type: "button", class: "span", own: kindColor(s.kind), left: this.percent(from), width: `calc(${share}% - 1px)` });
    if (s.active) {
      text += `, active ${s.active[0].toFixed(2)} to ${s.active[1].toFixed(2)} s`;
      b.append(make("i", { left: `${(s.active[0] - from) / length * 100}%`, width: `${(s.active[1] - s.active[0]) / length * 100}%` }));
    }
    b.append(make("em", {}, name));
    b.title = text;
    b.setAttribute("aria-label", text);
    b.addEventListener("click", (e) => { if (e.detail === 0) { this.player.pause(); this.player.seek(s.from); } });
    this.spanButtons.push([b, s]);
    return b;
  }

  /** Hides labels that would not fit their interval. */
  fitSpans() {
    const perSecond = $("ruler").clientWidth / (this.take.duration || 1);
    for (const [button, s] of this.spanButtons) button.classList.toggle("tiny", (s.to - s.from) * perSecond < 28);
  }

  fillRuler() {
    const { duration, fps } = this.take, ruler = $("ruler"), width = ruler.clientWidth || 600;
    const steps = [0.1, 0.25, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600];
    const step = steps.find((s) => s / duration * width > 62) || 1200;
    const minor = [1 / fps, step / 10, step / 5].find((m) => m / duration * width >= 5 && m < step) || step;
    const nodes = [];
    if (duration > 0) {
      for (let i = 0; i * minor <= duration + 1e-9; i++) nodes.push(make("i", { left: this.percent(i * minor) }));
      for (let i = 0; i * step <= duration + 1e-9; i++) {
        const t = i * step, last = (duration - t) / duration * width < 14;
        const text = duration >= 60 ? clock(t).slice(0, step < 1 ? -2 : -4) : `${+t.toFixed(2)}`;
        const place = i === 0 ? "first" : last ? "last" : "";
        nodes.push(make("i", { class: "big", left: this.percent(t) }));
        nodes.push(make("span", { class: place, left: this.percent(t) }, i === 0 ? `${text} s` : text));
      }
    }
    ruler.replaceChildren(...nodes);
  }

  fillHelp() {
    const keys = (k) => (Array.isArray(k) ? k : [k]).flatMap((t) => [make("kbd", {}, t), " "]);
    for (const [title, rows] of KEYS_HELP) {
      const plain = title === "Reading the picture";
      const lines = rows.map(([what, k]) => make("div", {}, make("span", {}, what), make("span", {}, ...(plain ? [k] : keys(k)))));
      $("help-body").append(make("section", {}, make("h3", {}, title), ...lines));
    }
    $("help-open").addEventListener("click", () => this.openHelp());
    $("help").addEventListener("click", (e) => { if (e.target === $("help")) $("help").close(); });
  }

  openHelp() {
    $("help").showModal();
    $("help").scrollTop = 0;
  }

  // -- panel, theme, views

  bindPanel() {
    $("panel-open").addEventListener("click", () => this.setPanel($("app").classList.contains("no-panel")));
    this.setPanel(innerWidth > 720);
    $("theme").addEventListener("click", () => this.switchTheme());
    $("ghosts").addEventListener("change", () => this.setGhosts($("ghosts").value));
    $("ghost-step").addEventListener("input", () => {
      this.ownStep = true;
      this.player.ghostStep = clamp(Math.round(Number($("ghost-step").value)) || 1, 1, 600);
      this.player.dirty = true;
    });
    for (const b of document.querySelectorAll("[data-view]")) b.addEventListener("click", () => this.player.view(b.dataset.view));
  }

  setPanel(open) {
    $("app").classList.toggle("no-panel", !open);
    $("panel-open").setAttribute("aria-expanded", open);
    this.placePicture();
  }

  /** Keeps the picture clear of the panel where there is room beside it. */
  placePicture() {
    const panel = $("panel"), stage = $("stage").clientWidth;
    this.player.camera.inset = panel.offsetWidth && stage > 900 ? stage - panel.offsetLeft : 0;
    this.player.dirty = true;
  }

  switchTheme() {
    this.player.theme = this.player.theme === "dark" ? "light" : "dark";
    store("kumite-theme", this.player.theme);
    this.applyTheme();
  }

  applyTheme() {
    document.documentElement.dataset.theme = this.player.theme;
    this.player.dirty = true;
  }

  // -- timeline input

  timeAt(clientX) {
    const box = $("ruler").getBoundingClientRect(), t = clamp((clientX - box.left) / box.width, 0, 1) * this.take.duration;
    return Math.round(t * this.take.fps) / this.take.fps;
  }

  bindTimeline() {
    const track = $("track"), ghost = $("ghostline");
    let resume = false;
    const scrub = (e) => this.player.seek(this.timeAt(e.clientX));
    track.addEventListener("pointerdown", (e) => {
      if (e.button !== 0 || e.target.closest("#events button")) return;
      resume = this.player.playing;
      this.player.pause();
      this.scrubbing = true;
      track.setPointerCapture(e.pointerId);
      scrub(e);
    });
    track.addEventListener("mousedown", (e) => { if (!e.target.closest("#ruler")) e.preventDefault(); });
    track.addEventListener("pointermove", (e) => {
      const t = this.timeAt(e.clientX), share = t / (this.take.duration || 1);
      ghost.hidden = e.pointerType === "touch" || this.scrubbing;
      ghost.style.left = this.percent(t);
      ghost.classList.toggle("left", share < 0.04);
      ghost.classList.toggle("right", share > 0.96);
      ghost.firstChild.textContent = `${clock(t)}  frame ${Math.round(t * this.take.fps)}`;
      if (this.scrubbing) scrub(e);
    });
    const stop = () => {
      if (this.scrubbing && resume) this.player.play();
      this.scrubbing = false;
    };
    track.addEventListener("pointerup", stop);
    track.addEventListener("pointercancel", stop);
    track.addEventListener("pointerleave", () => { ghost.hidden = true; });
    track.addEventListener("dblclick", (e) => {
      const under = document.elementFromPoint(e.clientX, e.clientY), pair = this.spanButtons.find(([button]) => button.contains(under));
      if (pair) this.player.setRange(Math.max(pair[1].from, 0), Math.min(pair[1].to, this.take.duration));
    });
    $("scroller").addEventListener("wheel", (e) => {
      if (!e.ctrlKey && !e.metaKey) return;
      e.preventDefault();
      this.zoomTimeline(Math.exp(-e.deltaY * 0.004), e.clientX);
    }, { passive: false });
    new ResizeObserver(() => { this.fillRuler(); this.fitSpans(); }).observe($("ruler"));
  }

  zoomTimeline(factor, clientX) {
    const scroller = $("scroller"), ruler = $("ruler"), before = ruler.getBoundingClientRect(), share = (clientX - before.left) / before.width;
    const most = Math.max(1, this.take.frames * 14 / Math.max(scroller.clientWidth, 1));
    this.zoom = clamp(this.zoom * factor, 1, most);
    $("track").style.setProperty("--zoom", this.zoom);
    const after = ruler.getBoundingClientRect();
    scroller.scrollLeft += after.left + share * after.width - clientX;
  }

  /** Keeps the play head in sight when the time line is zoomed in. */
  keepInSight() {
    const s = $("scroller"), x = 9 + this.player.time / (this.take.duration || 1) * $("ruler").clientWidth;
    if (this.zoom > 1 && !this.scrubbing && (x < s.scrollLeft || x > s.scrollLeft + s.clientWidth)) s.scrollLeft = x - s.clientWidth * 0.15;
  }

  // -- 3D view input

  bindCanvas() {
    const { canvas, player } = this, { camera } = player, pointers = new Map();
    let moved = 0, pan = false;
    const local = (e) => { const b = canvas.getBoundingClientRect(); return [e.clientX - b.left, e.clientY - b.top]; };
    canvas.addEventListener("pointerdown", (e) => {
      canvas.setPointerCapture(e.pointerId);
      pointers.set(e.pointerId, local(e));
      if (pointers.size === 1) { moved = 0; pan = e.button !== 0 || e.shiftKey; }
      canvas.classList.add("dragging");
    });
    canvas.addEventListener("pointermove", (e) => {
      const now = local(e), before = pointers.get(e.pointerId);
      if (!before) { this.pointer = e.pointerType === "mouse" ? now : null; player.dirty = true; return; }
      const dx = now[0] - before[0], dy = now[1] - before[1];
      moved += Math.hypot(dx, dy);
      if (pointers.size === 2) {
        const other = [...pointers].find(([id]) => id !== e.pointerId)[1];
        const spread = (p) => Math.hypot(p[0] - other[0], p[1] - other[1]);
        camera.zoom(clamp(spread(before) / Math.max(spread(now), 1), 0.8, 1.25));
        camera.pan(dx / 2, dy / 2);
      } else if (pan) camera.pan(dx, dy);
      else if (moved > 3) camera.orbit(dx * 0.006, dy * 0.006);
      pointers.set(e.pointerId, now);
      player.dirty = true;
    });
    const lift = (e) => {
      if (!pointers.delete(e.pointerId)) return;
      if (!pointers.size) canvas.classList.remove("dragging");
      if (e.type === "pointerup" && moved < 4 && !pan && !pointers.size) this.tap(local(e), e.pointerType);
    };
    canvas.addEventListener("pointerup", lift);
    canvas.addEventListener("pointercancel", lift);
    canvas.addEventListener("pointerleave", () => { this.pointer = null; player.dirty = true; });
    canvas.addEventListener("contextmenu", (e) => e.preventDefault());
    canvas.addEventListener("dblclick", () => player.view("frame"));
    canvas.addEventListener("wheel", (e) => {
      e.preventDefault();
      const unitSize = e.deltaMode === 1 ? 16 : e.deltaMode === 2 ? 400 : 1;
      if (e.shiftKey) camera.pan(-(e.deltaX || e.deltaY) * unitSize, e.deltaX ? -e.deltaY * unitSize : 0);
      else camera.zoom(Math.exp(clamp(e.deltaY * unitSize * (e.ctrlKey ? 0.01 : 0.0016), -0.5, 0.5)));
      player.dirty = true;
    }, { passive: false });
    this.bindGestures();
    new ResizeObserver(() => this.placePicture()).observe(canvas);
  }

  /** Trackpad pinch in Safari. */
  bindGestures() {
    let last = 1;
    this.canvas.addEventListener("gesturestart", (e) => { e.preventDefault(); last = e.scale; });
    this.canvas.addEventListener("gesturechange", (e) => {
      e.preventDefault();
      this.player.camera.zoom(last / e.scale);
      last = e.scale;
      this.player.dirty = true;
    });
  }

  tap(at, pointerType) {
    const { player } = this, hit = pickJoint(this.take, player.camera, at[0], at[1], player.show.body);
    const same = hit && player.pinned && hit.character === player.pinned.character && hit.joint === player.pinned.joint;
    this.pin(same ? null : hit);
    if (pointerType !== "mouse") this.pointer = null;
  }

  pin(pick) {
    const { player } = this, target = player.camera.target;
    player.pinned = pick;
    player.camera.offset = sub(target, player.anchor());
    player.dirty = true;
  }

  // -- keyboard

  key(e) {
    const { player } = this, on = e.target;
    if ($("help").open || e.ctrlKey || e.metaKey || e.altKey || /^(SELECT|INPUT)$/.test(on.tagName)) return;
    if (on.tagName === "BUTTON" && (e.key === " " || e.key === "Enter")) return;
    const act = (e.shiftKey && this.shiftKeys()[e.key]) || this.keys()[e.key.length === 1 ? e.key.toLowerCase() : e.key];
    if (!act) return;
    e.preventDefault();
    act();
    player.dirty = true;
  }

  keys() {
    const { player, take } = this, { camera } = player;
    const switches = Object.fromEntries(SWITCHES.map(([name, , key]) => [key.toLowerCase(), () => this.toggle(name)]));
    return {
      ...switches,
      " ": () => this.togglePlay(), ArrowLeft: () => player.step(-1), ArrowRight: () => player.step(1), ",": () => player.step(-1), ".": () => player.step(1),
      "<": () => player.step(-10), ">": () => player.step(10), Home: () => player.seekFrame(0), End: () => player.seekFrame(take.frames - 1),
      "[": () => this.changeSpeed(-1), "]": () => this.changeSpeed(1), l: () => { player.loop = !player.loop; },
      i: () => player.setRange(player.time, Math.max(player.bounds()[1], player.time)),
      o: () => player.setRange(Math.min(player.bounds()[0], player.time), player.time), u: () => player.setRange(0, take.duration),
      j: () => this.toEvent(-1), k: () => this.toEvent(1),
      f: () => player.view("frame"), 1: () => player.view("front"), 2: () => player.view("side"), 3: () => player.view("top"),
      "+": () => camera.zoom(0.88), "=": () => camera.zoom(0.88), "-": () => camera.zoom(1.14),
      g: () => this.setGhosts({ off: "near", near: "all", all: "off" }[player.ghosts]),
      p: () => this.setPanel($("app").classList.contains("no-panel")), d: () => this.switchTheme(),
      "?": () => this.openHelp(), Escape: () => this.pin(null),
    };
  }

  shiftKeys() {
    const { camera } = this.player;
    return {
      ArrowLeft: () => camera.orbit(0.12, 0), ArrowRight: () => camera.orbit(-0.12, 0),
      ArrowUp: () => camera.orbit(0, 0.08), ArrowDown: () => camera.orbit(0, -0.08),
      "/": () => this.openHelp(),
    };
  }

  toEvent(direction) {
    const { player } = this, times = this.take.events.map((e) => e.time), edge = 0.5 / this.take.fps;
    const next = direction > 0 ? times.find((t) => t > player.time + edge) : times.reverse().find((t) => t < player.time - edge);
    if (next !== undefined) { player.pause(); player.seek(next); }
  }

  // -- every picture

  sync() {
    const { player, take } = this, frame = player.frame, label = player.playing ? "Pause" : "Play";
    $("time").textContent = clock(player.time);
    $("frame").textContent = frame;
    $("playhead").style.left = this.percent(player.time);
    this.keepInSight();
    const play = $("play");
    if (play.getAttribute("aria-label") !== label) { setIcon(play, label.toLowerCase()); play.setAttribute("aria-label", label); }
    $("loop").setAttribute("aria-pressed", player.loop);
    $("ruler").setAttribute("aria-valuenow", player.time.toFixed(3));
    $("ruler").setAttribute("aria-valuetext", `${clock(player.time)}, frame ${frame} of ${take.frames - 1}`);
    const range = $("loop-range");
    range.hidden = !player.range;
    if (player.range) {
      range.style.left = this.percent(player.range[0]);
      range.style.width = `calc(${this.percent(player.range[1])} - ${this.percent(player.range[0])})`;
    }
    for (const [button, s] of this.spanButtons) button.classList.toggle("now", player.time >= s.from && player.time < s.to);
    this.syncDoing();
    this.syncCaption();
  }

  /** What every character is doing, beside its name. */
  syncDoing() {
    const t = this.player.time;
    this.take.characters.forEach((c, i) => {
      const now = c.spans.filter((s) => t >= s.from && t < s.to), active = now.some((s) => s.active && t >= s.active[0] && t <= s.active[1]);
      const text = now.map((s) => s.label || s.kind).join(", ");
      if (this.doing[i].textContent !== text) this.doing[i].textContent = text;
      this.doing[i].classList.toggle("active", active);
    });
  }

  syncCaption() {
    const t = this.player.time, e = this.take.events.filter((e) => t >= e.time - 1e-3 && t < e.time + 1.2).pop(), caption = $("caption");
    if (this.captioned === e) return;
    this.captioned = e;
    caption.hidden = !e;
    if (e) caption.replaceChildren(make("b", {}, e.kind), e.text || "");
  }

  /** Finds the joint under the pointer; before drawing, as it is highlighted. */
  findHover() {
    const { player } = this;
    const free = this.pointer && !this.canvas.classList.contains("dragging");
    player.hover = free ? pickJoint(this.take, player.camera, this.pointer[0], this.pointer[1], player.show.body) : null;
    this.canvas.classList.toggle("over", Boolean(player.hover));
  }

  /** Names over heads and the joint card: after the camera is known. */
  syncOverlays() {
    const { player } = this, { camera } = player;
    this.take.characters.forEach((c, i) => {
      const label = this.labels[i];
      label.hidden = !(player.show.names && c.visible);
      if (label.hidden) return;
      let top = 0;
      for (let j = 1; j < c.count; j++) if (c.pose.at[j * 3 + 1] > c.pose.at[top * 3 + 1]) top = j;
      const s = camera.project(add([c.pose.at[0], c.pose.at[top * 3 + 1], c.pose.at[2]], [0, 0.3, 0]));
      label.hidden = !s;
      if (s) label.style.transform = `translate(${Math.round(s[0] - label.offsetWidth / 2)}px, ${Math.round(s[1] - label.offsetHeight)}px)`;
      if (s) label.style.zIndex = Math.round(1000 - 10 * s[2]);
    });
    this.syncCard(player.hover || player.pinned);
  }

  syncCard(pick) {
    const card = $("card"), { player } = this;
    const c = pick && this.take.characters[pick.character];
    card.hidden = !c || !c.visible;
    if (card.hidden) return;
    card.replaceChildren(...this.cardContent(c, pick.joint));
    const s = player.camera.project(poseJoint(c.pose, pick.joint)) || [0, 0], stage = $("stage").getBoundingClientRect();
    const w = card.offsetWidth, h = card.offsetHeight, panel = $("panel"), wide = panel.offsetWidth > 0;
    if (innerWidth <= 720) { card.style.transform = "translate(8px, 8px)"; return; }
    const right = s[0] + 22 + w < (wide ? panel.offsetLeft : stage.width) - 8;
    const x = right ? s[0] + 22 : s[0] - 22 - w, y = s[1] - h / 2;
    const inside = (v, room) => Math.round(clamp(v, 8, Math.max(8, room - 8)));
    card.style.transform = `translate(${inside(x, stage.width - w)}px, ${inside(y, stage.height - h)}px)`;
  }

  cardContent(c, j) {
    const { player } = this, now = player.time * this.take.fps, p = poseJoint(c.pose, j), parent = c.parents[j];
    const speed = Math.hypot(...jointVelocity(c, j, now, this.take.fps)), turn = (k) => c.pose.turn.subarray(k * 4, k * 4 + 4);
    const triple = (v, digits) => v.map((x) => fixed(x, digits)).join("\u2002");
    const rows = [["Position, m", triple(p, 3)], ["Speed, m/s", fixed(speed, 2)]];
    if (parent >= 0) {
      rows.push(["Parent", c.joints[parent]], ["Length, m", fixed(Math.hypot(...sub(p, poseJoint(c.pose, parent))), 3)],
        ["Local turn, deg", triple(eulerDegrees(relative(turn(parent), turn(j))), 0)]);
    } else rows.push(["Turn, deg", triple(eulerDegrees(turn(j)), 0)]);
    const foot = CONTACTS.find(([name]) => c.landmarks[name] === j);
    if (foot && c.contacts) rows.push(["Planted", c.contacts[clamp(Math.round(now - c.start), 0, c.frames - 1)] & foot[1] ? "yes" : "no"]);
    const pinned = player.pinned && player.pinned.joint === j && player.pinned.character === c.index;
    const content = [
      make("header", {}, make("b", {}, c.joints[j]), make("span", { own: c.color }, make("span", { class: "dot" }), c.name)),
      make("dl", {}, ...rows.flatMap(([k, v]) => [make("dt", {}, k), make("dd", {}, v)])),
    ];
    if (pinned) content.push(make("p", {}, "Kept until you click it again or press Esc."));
    return content;
  }
}

// ---------------------------------------------------------------------------------------------------------- start

function showProblem(title, text) {
  $("problem").replaceChildren(make("b", {}, title), make("span", {}, text));
  $("problem").hidden = false;
  $("app").classList.add("broken");
}

function run(player, page, hook) {
  let last = 0, refineAt = 0;
  const picture = (still) => {
    page.findHover();
    player.draw(still);
    page.sync();
    page.syncOverlays();
    hook.ready = true;
  };
  const tick = (now) => {
    const dt = last ? (now - last) / 1000 : 0;
    last = now;
    if (player.playing) {
      if (dt > 0 && dt < 0.5) player.watchPace(dt);
      player.advance(Math.min(dt, 0.25));
    }
    if (player.camera.glide(now)) player.dirty = true;
    if (player.dirty) {
      player.dirty = player.playing;
      picture(false);
      refineAt = player.moveLevel < player.stillLevel ? now + 160 : 0;
    } else if (refineAt && now > refineAt) {
      picture(true);
      refineAt = 0;
    }
    requestAnimationFrame(tick);
  };
  player.renderer.canvas.addEventListener("webglcontextlost", (e) => e.preventDefault());
  player.renderer.canvas.addEventListener("webglcontextrestored", () => { player.renderer.build(); player.dirty = true; });
  requestAnimationFrame(tick);
  return picture;
}

function addressOptions() {
  const o = new URLSearchParams(location.hash.slice(1));
  const number = (key) => (o.has(key) && Number.isFinite(Number(o.get(key))) ? Number(o.get(key)) : null);
  return { t: number("t"), quality: number("quality"), theme: ["dark", "light"].includes(o.get("theme")) ? o.get("theme") : null };
}

function start() {
  const hook = window.kumite = {
    ready: false, error: null, frame: 0, seek() {}, play() {}, pause() {}, state: () => ({ ready: false, error: hook.error }), screen: () => null,
  };
  const options = addressOptions();
  const fail = (title, text) => { hook.error = text; showProblem(title, text); };
  let take;
  try { take = readTake($("kumite-data").textContent); } catch (e) { fail("This replay cannot be shown", e.message); return; }
  const player = new Player(take, options), page = new Page(player);
  try { player.useRenderer(new Renderer($("view")), options.quality === null ? null : clamp(options.quality, 0, QUALITY.length - 1)); } catch (e) {
    const advice = "This page needs WebGL 2. Update the browser, or turn on hardware acceleration in its settings.";
    fail("3D drawing is not available", e.message === "no WebGL2" ? advice : e.message);
    return;
  }
  player.camera.update(player.anchor(), player.renderer.canvas.clientWidth, player.renderer.canvas.clientHeight);
  player.view("frame", false);
  const picture = run(player, page, hook);

  Object.defineProperty(hook, "frame", { get: () => player.frame });
  hook.seek = (seconds) => { player.pause(); player.seek(seconds); picture(false); };
  hook.play = () => player.play();
  hook.pause = () => player.pause();
  hook.screen = (character, joint) => {
    const c = take.characters[character], s = player.camera.project(poseJoint(c.pose, typeof joint === "string" ? c.joints.indexOf(joint) : joint));
    const box = player.renderer.canvas.getBoundingClientRect();
    return s && [s[0] + box.left, s[1] + box.top];
  };
  hook.state = () => ({
    ready: hook.ready, error: null, playing: player.playing, time: player.time, frame: player.frame, frames: take.frames, fps: take.fps,
    duration: take.duration, speed: player.speed, loop: player.loop, range: player.range, theme: player.theme, show: { ...player.show }, ghosts: player.ghosts,
    visible: take.characters.filter((c) => c.visible).map((c) => c.name), hover: player.hover, pinned: player.pinned, quality: player.renderer.quality,
    camera: { yaw: player.camera.yaw, pitch: player.camera.pitch, distance: player.camera.distance, target: player.camera.target },
  });

  if (options.t !== null) player.seek(options.t);
  else if (!player.still.matches) player.play();
}

start();
})();
