// What the Khronos validator and three.js make of .glb files: one JSON object per file given, one per line.

import { readFileSync } from 'node:fs';
import validator from 'gltf-validator';
import { GLTFLoader } from 'three/addons/loaders/GLTFLoader.js';
import { AnimationMixer, Vector3 } from 'three';

for (const file of process.argv.slice(2)) {
  const bytes = new Uint8Array(readFileSync(file));
  const { issues } = await validator.validateBytes(bytes);
  const gltf = await new GLTFLoader().parseAsync(Uint8Array.from(bytes).buffer, '');
  const bones = [];
  let skinned = 0;
  gltf.scene.traverse((object) => {
    if (object.isBone) bones.push(object);
    if (object.isSkinnedMesh) skinned += 1;
  });
  // Where the bones are halfway through, so that it can be compared.
  const [clip] = gltf.animations;
  if (clip) {
    const mixer = new AnimationMixer(gltf.scene);
    mixer.clipAction(clip).play();
    mixer.setTime(clip.duration / 2);
    gltf.scene.updateMatrixWorld(true);
  }
  const at = new Vector3();
  console.log(JSON.stringify({
    errors: issues.numErrors,
    warnings: issues.numWarnings,
    messages: issues.messages.slice(0, 5).map((m) => `${m.code} ${m.pointer}: ${m.message}`),
    bones: bones.length,
    skinned,
    animations: gltf.animations.map((a) => ({ name: a.name, tracks: a.tracks.length, duration: a.duration })),
    halfway: bones.map((bone) => bone.getWorldPosition(at).toArray()),
  }));
}
