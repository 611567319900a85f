import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { fc } from "../../../../../test/support/random.ts";
import { ApiError } from "../../../../base/api/api-error.ts";
import type { KubeObject, OwnerReference } from "../../../../base/api/object.ts";
import { JitteryStore, ownedBy, TestCluster, until } from "../../shared/controllers.suite.ts";
import { GarbageCollection } from "./garbage-collection.ts";

type Place = "left" | "right" | "global";

/** An owner by its object number. There may be no such object. */
interface Owner {
  readonly of: number;
  readonly blocks: boolean;
}

interface Plan {
  readonly place: Place;
  readonly owners: readonly Owner[];
}

interface Deletion {
  readonly of: number;
  readonly policy: "Background" | "Foreground" | "Orphan";
}

const MAX_OBJECTS = 9;

const owner = fc.record({ of: fc.nat({ max: MAX_OBJECTS + 1 }), blocks: fc.boolean() });
const plan: fc.Arbitrary<Plan> = fc.record({
  place: fc.constantFrom<Place>("left", "left", "left", "right", "global"),
  owners: fc.uniqueArray(owner, { maxLength: 3, selector: ({ of }) => of }),
});
const plans = fc.array(plan, { minLength: 2, maxLength: MAX_OBJECTS });
const deletions = (...policies: Deletion["policy"][]) =>
  fc.array(fc.record({ of: fc.nat({ max: MAX_OBJECTS - 1 }), policy: fc.constantFrom(...policies) }), {
    minLength: 1,
    maxLength: 4,
  });

/** The expected objects and their owners when nothing is left to do. */
class Model {
  readonly #plans: readonly Plan[];
  readonly #owners: Map<number, readonly Owner[]>;

  constructor(plans: readonly Plan[]) {
    this.#plans = plans;
    this.#owners = new Map(plans.map(({ owners }, index) => [index, owners]));
  }

  get living(): number[] {
    return [...this.#owners.keys()];
  }

  ownersOf(index: number): number[] {
    return (this.#owners.get(index) ?? []).map(({ of }) => of);
  }

  delete({ of, policy }: Deletion): void {
    if (!this.#owners.delete(of)) return;
    if (policy !== "Orphan") return;
    for (const [index, owners] of this.#owners)
      this.#owners.set(
        index,
        owners.filter((one) => one.of !== of),
      );
  }

  settle(): void {
    let isDone = false;
    while (!isDone) {
      isDone = true;
      for (const [index, owners] of this.#owners) {
        if (owners.length === 0 || this.#isImpossible(index, owners)) continue;
        if (owners.some((one) => this.#isThere(index, one))) continue;
        this.#owners.delete(index);
        isDone = false;
      }
    }
    for (const [index, owners] of this.#owners) {
      if (this.#isImpossible(index, owners)) continue;
      this.#owners.set(
        index,
        owners.filter((one) => this.#isThere(index, one)),
      );
    }
  }

  #isImpossible(index: number, owners: readonly Owner[]): boolean {
    return this.#plans[index]?.place === "global" && owners.some(({ of }) => this.#plans[of]?.place !== "global");
  }

  #isThere(index: number, { of }: Owner): boolean {
    const place = this.#plans[of]?.place;
    return this.#owners.has(of) && (place === "global" || place === this.#plans[index]?.place);
  }
}

const pluralOf = (place: Place | undefined) => (place === "global" ? "clusterroles" : "configmaps");

/** The same objects in a cluster with a garbage collector. */
class World {
  readonly cluster: TestCluster;
  readonly collection: GarbageCollection;
  readonly #plans: readonly Plan[];
  readonly #created: KubeObject[] = [];

  constructor(plans: readonly Plan[], seed: number) {
    this.#plans = plans;
    this.cluster = new TestCluster(new JitteryStore(seed));
    this.collection = new GarbageCollection(this.cluster);
  }

  async create(): Promise<void> {
    for (const [index, { place }] of this.#plans.entries()) {
      this.#created.push(await this.cluster.create(pluralOf(place), `object-${index}`, { namespace: place }));
    }
    for (const [index, { owners, place }] of this.#plans.entries()) {
      const ownerReferences = owners.map((one) => this.#reference(one));
      if (ownerReferences.length === 0) continue;
      const change = ({ metadata }: KubeObject) => Object.assign(metadata, { ownerReferences });
      await this.cluster.change(pluralOf(place), `object-${index}`, change, place).catch(ignoreGone);
    }
  }

  #reference({ of, blocks }: Owner): OwnerReference {
    const target = this.#created[of];
    if (target) return ownedBy(target, blocks);
    const absent = { apiVersion: "v1", kind: "ConfigMap", name: "absent", uid: `absent-${of}` };
    return { ...absent, blockOwnerDeletion: blocks };
  }

  async delete({ of, policy }: Deletion): Promise<void> {
    const place = this.#plans[of]?.place;
    if (place === undefined) return;
    const request = { propagationPolicy: policy };
    await this.cluster.delete(pluralOf(place), `object-${of}`, request, place).catch(ignoreGone);
  }

  async settle(): Promise<void> {
    await until(async () => this.collection.isSettled(await this.cluster.store.revision()));
  }

  async compare(model: Model): Promise<void> {
    const seen: [number, number[]][] = [];
    for (const [index, { place }] of this.#plans.entries()) {
      const object = await this.cluster.find(pluralOf(place), `object-${index}`, place);
      const uids = object?.metadata.ownerReferences?.map(({ uid }) => uid) ?? [];
      if (object) seen.push([index, uids.map((uid) => this.#numberOf(uid))]);
    }
    assert.deepEqual(
      seen,
      model.living.map((index) => [index, model.ownersOf(index)]),
    );
    assert.deepEqual(this.cluster.problems, []);
  }

  #numberOf(uid: string): number {
    const index = this.#created.findIndex(({ metadata }) => metadata.uid === uid);
    return index >= 0 ? index : Number(uid.replace("absent-", ""));
  }
}

function ignoreGone(error: unknown): void {
  if (!(error instanceof ApiError && error.code === 404)) throw error;
}

suite("garbage collection of random graphs", () => {
  test("leaves the right objects after each deletion", async () => {
    const property = fc.asyncProperty(
      fc.nat(),
      plans,
      deletions("Background", "Foreground", "Orphan"),
      async (seed, plans, steps) => {
        const world = new World(plans, seed);
        const model = new Model(plans);
        try {
          await world.create();
          world.cluster.start(world.collection);
          await world.settle();
          model.settle();
          await world.compare(model);
          for (const step of steps) {
            await world.delete(step);
            await world.settle();
            model.delete(step);
            model.settle();
            await world.compare(model);
          }
        } finally {
          await world.cluster.stop();
        }
      },
    );
    // An impossible ownerReference is removed if the other owner is gone already.
    const freed: [number, Plan[], Deletion[]] = [
      0,
      [
        { place: "left", owners: [] },
        { place: "global", owners: [] },
        {
          place: "global",
          owners: [
            { of: 0, blocks: false },
            { of: 1, blocks: false },
          ],
        },
      ],
      [
        { of: 1, policy: "Background" },
        { of: 0, policy: "Orphan" },
      ],
    ];
    await fc.assert(property, { numRuns: 100, examples: [freed] });
  });

  test("leaves the right objects if everything happens at once and two collectors run", async () => {
    const property = fc.asyncProperty(
      fc.nat(),
      plans,
      deletions("Background", "Foreground"),
      async (seed, plans, steps) => {
        const world = new World(plans, seed);
        const model = new Model(plans);
        const second = new GarbageCollection(world.cluster);
        try {
          world.cluster.start(world.collection, second);
          await world.create();
          await Promise.all(steps.map((step) => world.delete(step)));
          await until(async () => second.isSettled(await world.cluster.store.revision()));
          await world.settle();
          for (const step of steps) model.delete(step);
          model.settle();
          await world.compare(model);
        } finally {
          await world.cluster.stop();
        }
      },
    );
    await fc.assert(property, { numRuns: 100 });
  });
});
