import { RbacAuthorizer } from "../src/access/authorization/rbac.ts";
import { RoleIndex } from "../src/access/authorization/role-index.ts";
import { type Attributes, nonResourceAttributes, resourceAttributes } from "../src/base/api/attributes.ts";
import { builtInKinds } from "../src/kinds/built-in/all.ts";
import { Catalog } from "../src/resources/model/catalog.ts";
import { KeySpace } from "../src/resources/model/keys.ts";
import { ObjectCodec } from "../src/resources/model/object-codec.ts";
import { MemoryStore } from "../src/storage/memory.ts";

/**
 * node bench/authorization.ts [COUNT...]
 * Prints what an RBAC decision costs with so many roles and as many bindings, half of them in 100 namespaces: for users
 * who have one role, who have none, and for one who has ten.
 */
const counts = process.argv.slice(2).map(Number);
const DECISIONS = 200_000;
const NAMESPACES = 100;
const GROUP = "rbac.authorization.k8s.io";

async function fill(store: MemoryStore, count: number): Promise<void> {
  const write = (key: string, object: object) => store.put(`/registry/${key}`, Buffer.from(JSON.stringify(object)), 0);
  for (let index = 0; index < count; index++) {
    const name = `r${index}`;
    const isCluster = index % 2 === 0;
    const namespace = isCluster ? undefined : `ns${index % NAMESPACES}`;
    const metadata = { name, ...(namespace && { namespace }) };
    const place = namespace === undefined ? name : `${namespace}/${name}`;
    const resources = [`kind${index % 50}s`, "configmaps", "pods/log"];
    const rules = [
      { verbs: ["get", "list", "watch"], apiGroups: ["", "apps"], resources },
      { verbs: ["update"], apiGroups: [""], resources: ["pods"], resourceNames: ["a", "b"] },
    ];
    const user = { kind: "User", apiGroup: GROUP, name: `user${index}` };
    const subjects = index % (count / 10) === 0 ? [user, { ...user, name: "ten" }] : [user];
    const roleRef = { apiGroup: GROUP, kind: isCluster ? "ClusterRole" : "Role", name };
    await write(`${isCluster ? "clusterroles" : "roles"}/${place}`, { metadata, rules });
    await write(`${isCluster ? "clusterrolebindings" : "rolebindings"}/${place}`, { metadata, subjects, roleRef });
  }
}

function measure(rbac: RbacAuthorizer, title: string, attributes: readonly Attributes[]): void {
  let allowed = 0;
  const run = () => {
    for (let index = 0; index < DECISIONS; index++) {
      const one = attributes[index % attributes.length];
      if (one && rbac.decide(one).decision === "allow") allowed++;
    }
  };
  run();
  allowed = 0;
  const start = process.hrtime.bigint();
  run();
  const micros = Number(process.hrtime.bigint() - start) / 1000 / DECISIONS;
  process.stdout.write(`  ${title}: ${micros.toFixed(2)} µs, ${Math.round((100 * allowed) / DECISIONS)} % allowed\n`);
}

for (const count of counts.length > 0 ? counts : [1000, 100_000]) {
  const store = new MemoryStore();
  await fill(store, count);
  const catalog = new Catalog(builtInKinds());
  const index = new RoleIndex({ store, catalog, keys: new KeySpace("registry"), codec: new ObjectCodec() });
  const stop = new AbortController();
  const start = performance.now();
  const running = index.run(stop.signal);
  await index.loaded(stop.signal);
  process.stdout.write(`${count} roles and bindings, read in ${Math.round(performance.now() - start)} ms\n`);
  const rbac = new RbacAuthorizer(index);
  const groups = ["system:authenticated", "dev", "ops"];
  const ask = (name: string, verb: string, resource: string, namespace: string) =>
    resourceAttributes({ name, groups }, { verb, apiGroup: "", resource, namespace, name: "a" });
  const many = (make: (at: number) => Attributes) =>
    Array.from({ length: 1000 }, (_, at) => make(Math.floor((at * count) / 1000)));
  const own = (at: number) => (at % 2 === 0 ? "default" : `ns${at % NAMESPACES}`);
  measure(
    rbac,
    "one role, allowed",
    many((at) => ask(`user${at}`, "get", "configmaps", own(at))),
  );
  measure(
    rbac,
    "one role, refused",
    many((at) => ask(`user${at}`, "delete", "secrets", own(at))),
  );
  measure(
    rbac,
    "no role",
    many((at) => ask(`nobody${at}`, "get", "configmaps", own(at))),
  );
  measure(
    rbac,
    "ten roles, refused",
    many((at) => ask("ten", "delete", "secrets", own(at))),
  );
  measure(
    rbac,
    "a path",
    many((at) => nonResourceAttributes({ name: `user${at}`, groups }, "get", "/metrics")),
  );
  stop.abort();
  await running;
  await store.close();
}
