import type { JsonObject } from "../../../src/base/api/object.ts";
import type { Random } from "../random.ts";

/** An object to create, and where. */
export interface NewObject {
  readonly path: string;
  readonly object: JsonObject;
}

const CLAIMS = "/api/v1/namespaces/default/persistentvolumeclaims";
const VOLUMES = "/api/v1/persistentvolumes";
const STORAGE = "/apis/storage.k8s.io/v1";
/** Binnacle's controller provisions its volumes without any storage. */
const DRIVER = "simulated.binnacle.dev";
const ZONE = "topology.kubernetes.io/zone";
const LATE = "WaitForFirstConsumer";
const DISKS = ["one", "two"];

/** What all sequences use: classes, and a driver that publishes its capacity. */
export function sharedStorage(): NewObject[] {
  const allowedTopologies = [{ matchLabelExpressions: [{ key: ZONE, values: ["z1", "z2"] }] }];
  const classes: JsonObject[] = [
    { metadata: { name: "local" }, provisioner: "kubernetes.io/no-provisioner", volumeBindingMode: LATE },
    { metadata: { name: "fast" }, provisioner: DRIVER, volumeBindingMode: LATE },
    { metadata: { name: "zonal" }, provisioner: DRIVER, volumeBindingMode: LATE, allowedTopologies },
  ];
  return [
    ...classes.map((object) => ({ path: `${STORAGE}/storageclasses`, object })),
    { path: `${STORAGE}/csidrivers`, object: { metadata: { name: DRIVER }, spec: { storageCapacity: true } } },
  ];
}

/** Volumes, capacities and limits for the nodes of a sequence. */
export function randomStorage(random: Random, seed: number, nodes: readonly string[]): NewObject[] {
  const objects: NewObject[] = [];
  for (const [index, node] of nodes.entries()) {
    for (let number = random.below(3); number > 0; number -= 1) objects.push(localVolume(seed, index, node, number));
    if (random.chance(0.5)) objects.push(limits(random, node));
  }
  for (const className of ["fast", "zonal"]) {
    for (const zone of ["z1", "z2", "z3"]) {
      if (!random.chance(0.7)) continue;
      const object = {
        metadata: { name: `${className}-${zone}-${seed}` },
        storageClassName: className,
        capacity: random.pick(["500Mi", "3Gi", "70Gi"]),
        nodeTopology: { matchLabels: { [ZONE]: zone } },
      };
      objects.push({ path: `${STORAGE}/namespaces/default/csistoragecapacities`, object });
    }
  }
  for (let number = 0; number < 3; number += 1) objects.push(zonedVolume(random, seed, number));
  return objects;
}

/** Sizes are all different, so that there is only one smallest volume. */
function localVolume(seed: number, index: number, node: string, number: number): NewObject {
  const matchExpressions = [{ key: "kubernetes.io/hostname", operator: "In", values: [node] }];
  const spec = {
    ...{ accessModes: ["ReadWriteOnce"], storageClassName: "local", local: { path: "/disk" } },
    capacity: { storage: `${1000 + 700 * number + index}Mi` },
    nodeAffinity: { required: { nodeSelectorTerms: [{ matchExpressions }] } },
  };
  return { path: VOLUMES, object: { metadata: { name: `local-${seed}-${index}-${number}` }, spec } };
}

/** A volume that is bound at once, to a claim of class `now-SEED`. */
function zonedVolume(random: Random, seed: number, number: number): NewObject {
  const labels = { [ZONE]: random.pick(["z1", "z2", "z1__z3"]) };
  const spec = {
    ...{ accessModes: ["ReadWriteOnce", "ReadWriteOncePod"], storageClassName: `now-${seed}` },
    ...{ capacity: { storage: `${2000 + number}Mi` }, hostPath: { path: "/x" } },
  };
  return { path: VOLUMES, object: { metadata: { name: `now-${seed}-${number}`, labels }, spec } };
}

function limits(random: Random, name: string): NewObject {
  const drivers = [DRIVER, "pd.csi.storage.gke.io"].map((driver) => ({
    ...{ name: driver, nodeID: name },
    allocatable: { count: 1 + random.below(2) },
  }));
  return { path: `${STORAGE}/csinodes`, object: { metadata: { name }, spec: { drivers } } };
}

/** The volumes of a random Pod, and a claim that it needs. `claims`: those of earlier Pods. */
export function randomVolumes(
  random: Random,
  seed: number,
  number: number,
  claims: string[],
): { readonly volumes: JsonObject[]; readonly claim?: NewObject } {
  if (random.chance(0.15)) {
    const gcePersistentDisk = { pdName: random.pick(DISKS), readOnly: random.chance(0.4) };
    return { volumes: [{ name: "v", gcePersistentDisk }] };
  }
  if (!random.chance(0.4)) return { volumes: [] };
  const volume = (claimName: string) => [{ name: "v", persistentVolumeClaim: { claimName } }];
  if (claims.length > 0 && random.chance(0.3)) return { volumes: volume(random.pick(claims)) };
  const name = `c${seed}-${number}`;
  if (random.chance(0.05)) return { volumes: volume(`absent-${name}`) };
  claims.push(name);
  const storageClassName = random.pick(["local", "local", "fast", "zonal", `now-${seed}`]);
  const isExclusive = storageClassName.startsWith("now") && random.chance(0.5);
  const spec = {
    ...{ storageClassName, accessModes: [isExclusive ? "ReadWriteOncePod" : "ReadWriteOnce"] },
    resources: { requests: { storage: random.pick(["400Mi", "1500Mi", "2Gi"]) } },
  };
  return { volumes: volume(name), claim: { path: CLAIMS, object: { metadata: { name }, spec } } };
}
