// Meshes from files, each loaded once and shared by all that use it.

import * as THREE from "three";
import { ColladaLoader } from "three/examples/jsm/loaders/ColladaLoader.js";
import { GLTFLoader } from "three/examples/jsm/loaders/GLTFLoader.js";
import { MTLLoader } from "three/examples/jsm/loaders/MTLLoader.js";
import { OBJLoader } from "three/examples/jsm/loaders/OBJLoader.js";
import { STLLoader } from "three/examples/jsm/loaders/STLLoader.js";
import { bytesOf, type Mesh, type Scene } from "./scene";

/** What a mesh is made of; `own` says whether its materials are the file's. */
export interface Loaded {
  object: THREE.Object3D;
  own: boolean;
}

export class Meshes {
  private loaded = new Map<number, Promise<Loaded>>();
  private files = new Map<number, Promise<ArrayBuffer>>();

  constructor(private scene: Scene) {}

  /** A mesh by its number, or an error that says why it cannot be drawn. */
  get(number: number): Promise<Loaded> {
    let found = this.loaded.get(number);
    if (!found) {
      found = this.load(this.scene.meshes[number]);
      this.loaded.set(number, found);
    }
    return found;
  }

  private file(number: number): Promise<ArrayBuffer> {
    let found = this.files.get(number);
    if (!found) {
      const inside = this.scene.files?.[number];
      found = inside !== undefined ? Promise.resolve(bytesOf(inside).buffer) : this.fetched(number);
      this.files.set(number, found);
    }
    return found;
  }

  private async fetched(number: number): Promise<ArrayBuffer> {
    const answer = await fetch(`file/${number}`);
    if (!answer.ok) throw new Error(`the program answers ${answer.status}`);
    return answer.arrayBuffer();
  }

  private async load(mesh: Mesh): Promise<Loaded> {
    if (mesh.file === null) throw new Error(mesh.problem);
    const bytes = await this.file(mesh.file);
    // What the mesh names is made ready before it is read: addresses are given at once.
    const addresses = new Map<string, string>();
    for (const [name, number] of Object.entries(mesh.others)) {
      addresses.set(name, URL.createObjectURL(new Blob([await this.file(number)])));
    }
    const base = "mesh:/";
    const manager = new THREE.LoadingManager();
    manager.setURLModifier((url) => {
      if (/^(blob|data):/.test(url)) return url;
      const name = url.startsWith(base) ? url.slice(base.length) : url;
      return addresses.get(name) ?? addresses.get(decodeURI(name)) ?? "data:,";
    });
    const text = () => new TextDecoder().decode(bytes);
    switch (mesh.kind) {
      case "stl": {
        const geometry = new STLLoader().parse(bytes);
        if (!geometry.attributes.position?.count) throw new Error("has no triangles");
        return { object: new THREE.Mesh(geometry), own: false };
      }
      case "obj": {
        const loader = new OBJLoader(manager);
        const library = Object.keys(mesh.others).find((name) => name.endsWith(".mtl"));
        if (library) {
          const materials = new TextDecoder().decode(await this.file(mesh.others[library]));
          const creator = new MTLLoader(manager).parse(materials, base);
          creator.preload();
          loader.setMaterials(creator);
        }
        return { object: drawn(loader.parse(text())), own: library !== undefined };
      }
      case "dae": {
        // Robots' files mean the coordinates as they stand, whichever axis the mesh calls up.
        const plain = text().replace(/<up_axis>[^<]*<\/up_axis>/, "<up_axis>Y_UP</up_axis>");
        const result = new ColladaLoader(manager).parse(plain, base);
        if (!result) throw new Error("is not a COLLADA file");
        return { object: drawn(result.scene), own: true };
      }
      default: {
        const result = await new GLTFLoader(manager).parseAsync(bytes, base);
        return { object: drawn(result.scene), own: true };
      }
    }
  }
}

/** The object without lights and cameras of its own; an error if nothing of it can be seen. */
function drawn(object: THREE.Object3D): THREE.Object3D {
  const rest: THREE.Object3D[] = [];
  let triangles = 0;
  object.traverse((part) => {
    if (part instanceof THREE.Light || part instanceof THREE.Camera) rest.push(part);
    if (part instanceof THREE.Mesh) triangles += part.geometry.attributes.position?.count ?? 0;
  });
  rest.forEach((part) => part.removeFromParent());
  if (triangles === 0) throw new Error("has no triangles");
  return object;
}
