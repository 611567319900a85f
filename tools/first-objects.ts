import { ContainerImages } from "../src/cluster/nodes/behaviour/container-images.ts";
import { completeConfig } from "../src/programs/library/options.ts";
import { SILENCE } from "../src/programs/library/start-server.ts";
import type { FirstObjects } from "../src/programs/server/bootstrap/first-objects.ts";
import { TestUsers } from "../src/programs/testing/test-users.ts";
import { World } from "../src/programs/testing/world.ts";

/** Kinds of which a new server has the same objects wherever it runs. All others tell of its address, authority or host. */
const SAME_EVERYWHERE = [
  "apiregistration.k8s.io/apiservices/",
  "clusterrolebindings/",
  "clusterroles/",
  "flowschemas/",
  "namespaces/",
  "priorityclasses/",
  "prioritylevelconfigurations/",
  "rolebindings/",
  "roles/",
];
const TIME = "2000-01-01T00:00:00Z";
const UID = "00000000-0000-0000-0000-000000000000";

/** The objects that a server has as soon as it is ready, made by a server. */
export async function firstObjects(): Promise<FirstObjects> {
  const config = completeConfig({ controllers: "none" });
  const clock = { nowMs: Date.parse(TIME), isRunning: false };
  const world = new World(
    { config, users: new TestUsers(), log: SILENCE, isSteady: false, images: new ContainerImages() },
    { memory: undefined, clock, seed: 0, journal: undefined, served: [], lostNodes: [] },
  );
  try {
    const { resources } = await world.parts();
    await world.activity.calm();
    const { root } = resources.keys;
    const { entries } = await resources.store.list(root);
    const objects = entries.flatMap(({ key, value }): [string, string][] => {
      const name = key.slice(root.length);
      return SAME_EVERYWHERE.some((prefix) => name.startsWith(prefix)) ? [[name, withoutUid(value)]] : [];
    });
    return { time: TIME, uid: UID, objects };
  } finally {
    await world.close();
  }
}

function withoutUid(value: Uint8Array): string {
  const json = Buffer.from(value).toString();
  const { uid } = JSON.parse(json).metadata as { uid: string };
  const parts = json.split(uid);
  if (parts.length !== 2) throw new Error(`a uid that stands in ${parts.length - 1} places: ${json}`);
  return parts.join(UID);
}
