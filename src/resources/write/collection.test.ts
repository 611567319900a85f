import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { forbidden } from "../../base/api/api-error.ts";
import type { KubeObject } from "../../base/api/object.ts";
import { seededRandom } from "../../base/util/seeded-random.ts";
import { StoreError } from "../../storage/store.ts";
import type { ReserveAction } from "../model/actions.ts";
import { Harbour, refusal, ship, shipsWith } from "./collection.suite.ts";

const spec = (sails: number) => (object: KubeObject) => {
  object.spec = { sails };
};
const unlucky = refusal(422, "Invalid", /spec\.sails: Invalid value: 13: is unlucky/);

describe("create", () => {
  it("sets server-controlled metadata regardless of what the client sent", async () => {
    const { ships, environment } = new Harbour();
    environment.clock.set(Date.parse("2030-01-02T03:04:05Z"));
    const claims = { uid: "mine", generation: 7, creationTimestamp: "2000-01-01T00:00:00Z", deletionTimestamp: "x" };
    const created = await ships.create({ ...ship("a", { metadata: claims }), status: { afloat: true } });
    const { uid, ...metadata } = created.metadata;
    assert.match(uid ?? "", /^[0-9a-f-]{36}$/);
    assert.deepEqual(metadata, {
      name: "a",
      namespace: "n",
      creationTimestamp: "2030-01-02T03:04:05Z",
      generation: 1,
      resourceVersion: metadata.resourceVersion,
    });
    assert.equal(created.status, undefined, "the status has its own endpoint");
    assert.deepEqual(await ships.get("a"), created);
  });

  it("rejects a name that is taken, and reports if its object is being deleted", async () => {
    const { ships } = new Harbour();
    await ships.create(ship("a", { metadata: { finalizers: ["sea.example/anchor"] } }));
    await assert.rejects(ships.create(ship("a")), refusal(409, "AlreadyExists", /"a" already exists$/));
    await ships.remove("a");
    await assert.rejects(ships.create(ship("a")), refusal(409, "AlreadyExists", /object is being deleted/));
  });

  it("rejects a resourceVersion last, and returns it in a dry run", async () => {
    const { ships } = new Harbour();
    const versioned = (name: string, resourceVersion: string, sails = 1) =>
      ship(name, { metadata: { resourceVersion }, spec: { sails } });
    await ships.create(ship("there"));
    for (const name of ["new", "there"]) {
      await assert.rejects(ships.create(versioned(name, "5")), {
        code: 500,
        message: /^resourceVersion should not be set/,
      });
    }
    await assert.rejects(ships.create(versioned("new", "5", 13)), unlucky);
    const shown = await ships.create(versioned("new", "5"), { dryRun: true });
    assert.equal(shown.metadata.resourceVersion, "5");
    await assert.rejects(
      ships.create(versioned("there", "5"), { dryRun: true }),
      refusal(409, "AlreadyExists", /"there" already exists$/),
    );
    const { metadata } = await ships.create(versioned("new", "abc"));
    assert.match(metadata.resourceVersion ?? "", /^\d+$/);
  });

  it("generates another name if the first is taken", async () => {
    const generated = { metadata: { generateName: "ship-" } };
    const first = new Harbour({ random: seededRandom(1) });
    const { metadata } = await first.ships.create(ship("", generated));
    const second = new Harbour({ random: seededRandom(1) });
    await second.inner.put(`/registry/ships/n/${metadata.name}`, Buffer.from(JSON.stringify(ship("taken"))), 0);
    const other = await second.ships.create(ship("", generated));
    assert.match(other.metadata.name ?? "", /^ship-.{5}$/);
    assert.notEqual(other.metadata.name, metadata.name);
  });

  it("gives up after eight taken names", async () => {
    const random = { ...seededRandom(1), integer: () => 0, fraction: () => 0 };
    const { ships, inner } = new Harbour({ random });
    const generated = () => ship("", { metadata: { generateName: "ship-" } });
    await ships.create(generated());
    const before = await inner.revision();
    await assert.rejects(
      ships.create(generated()),
      refusal(409, "AlreadyExists", /the server was not able to generate/),
    );
    assert.equal(await inner.revision(), before);
  });
});

describe("update", () => {
  it("increments the generation only if the spec changes", async () => {
    const { ships } = new Harbour();
    await ships.create(ship("a"));
    const labelled = await ships.change("a", ({ metadata }) => {
      metadata.labels = { port: "home" };
    });
    assert.equal(labelled.object.metadata.generation, 1);
    assert.equal((await ships.change("a", spec(4))).object.metadata.generation, 2);
    const status = await ships.change(
      "a",
      (object) => Object.assign(object, { status: { afloat: true }, spec: { sails: 9 } }),
      { subresource: "status" },
    );
    assert.deepEqual(
      [status.object.metadata.generation, status.object.status, status.object.spec],
      [2, { afloat: true }, { sails: 4 }],
      "a status write changes only the status",
    );
  });

  it("writes nothing if nothing changes", async () => {
    const { ships, inner } = new Harbour();
    const created = await ships.create(ship("a"));
    const before = await inner.revision();
    const { object } = await ships.change("a", ({ metadata }) => {
      metadata.generation = 99;
    });
    assert.deepEqual(object, created);
    assert.equal(await inner.revision(), before);
  });

  it("retries after a competing write and loses neither", async () => {
    const { ships, rival, store } = new Harbour();
    await ships.create(ship("a"));
    store.meanwhile(() => rival.change("a", spec(7)));
    const seen: (object | undefined)[] = [];
    const label = ({ metadata }: { metadata: { labels?: object } }) =>
      Object.assign(metadata, { labels: { port: "x" } });
    const { object } = await ships.change("a", label, { seen: seen as never });
    assert.deepEqual(
      seen.map((state) => (state as { spec: unknown }).spec),
      [{ sails: 3 }, { sails: 7 }],
    );
    assert.deepEqual([object.spec, object.metadata.labels], [{ sails: 7 }, { port: "x" }]);
  });

  it("rejects an outdated resourceVersion, even if it becomes outdated on the way", async () => {
    const { ships, rival, store } = new Harbour();
    const stale = await ships.create(ship("a"));
    const { resourceVersion } = stale.metadata;
    const put = () =>
      ships.change("a", (object) => {
        spec(5)(object);
        object.metadata.resourceVersion = resourceVersion;
      });
    store.meanwhile(() => rival.change("a", spec(7)));
    const conflict = refusal(409, "Conflict", /the object has been modified/);
    await assert.rejects(put(), conflict);
    await assert.rejects(put(), conflict);
    assert.deepEqual((await ships.get("a")).spec, { sails: 7 });
  });

  it("requires a resourceVersion if the kind does, except for patches", async () => {
    const { ships } = new Harbour({ definition: shipsWith({ rules: { requiresResourceVersion: true } }) });
    await ships.create(ship("a"));
    const change = (object: ReturnType<typeof ship>) => {
      spec(4)(object);
      delete object.metadata.resourceVersion;
    };
    await assert.rejects(ships.change("a", change), refusal(422, "Invalid", /must be specified for an update/));
    assert.deepEqual((await ships.change("a", change, { isPatch: true })).object.spec, { sails: 4 });
  });

  it("rejects another uid than the stored one", async () => {
    const { ships } = new Harbour();
    await ships.create(ship("a"));
    const refused = refusal(409, "Conflict", /Precondition failed: UID in precondition: other/);
    await assert.rejects(ships.change("a", spec(4), { uid: "other" }), refused);
  });

  it("creates a missing object only if allowed", async () => {
    const plain = new Harbour();
    await assert.rejects(plain.ships.change("a", spec(4)), refusal(404, "NotFound", /ships.sea.example "a" not found/));
    assert.equal((await plain.ships.change("a", spec(4), { mayCreate: true })).created, true);
    const lenient = new Harbour({ definition: shipsWith({ rules: { createsOnUpdate: true } }) });
    assert.equal((await lenient.ships.change("a", spec(4))).created, true);
    await assert.rejects(lenient.ships.change("b", spec(4), { isPatch: true }), refusal(404, "NotFound", /"b"/));
  });

  it("becomes an update if a competitor creates the object first, and a create if it is deleted", async () => {
    const { ships, rival, store } = new Harbour();
    const options = () => ({ mayCreate: true, isPatch: true, seen: [] as never[] });
    const first = options();
    store.meanwhile(() => rival.create(ship("a", { metadata: { labels: { by: "rival" } } })));
    const updated = await ships.change("a", spec(4), first);
    assert.deepEqual([updated.created, updated.object.metadata.labels, first.seen.length], [false, { by: "rival" }, 2]);
    const second = options();
    store.meanwhile(() => rival.remove("a"));
    const created = await ships.change("a", spec(5), second);
    assert.deepEqual([created.created, created.object.metadata.labels, second.seen.length], [true, undefined, 2]);
  });
});

describe("delete", () => {
  it("marks an object with finalizers once; removing the last finalizer removes it", async () => {
    const { ships, inner, environment } = new Harbour();
    environment.clock.set(Date.parse("2030-01-01T00:00:00Z"));
    await ships.create(ship("a", { metadata: { finalizers: ["sea.example/anchor"] } }));
    const { object, removed } = await ships.remove("a");
    const { deletionTimestamp, deletionGracePeriodSeconds, generation } = object.metadata;
    assert.deepEqual(
      { removed, deletionTimestamp, deletionGracePeriodSeconds, generation },
      { removed: false, deletionTimestamp: "2030-01-01T00:00:00Z", deletionGracePeriodSeconds: 0, generation: 2 },
    );
    const before = await inner.revision();
    await environment.clock.advance(5000);
    assert.deepEqual(await ships.remove("a"), { object, removed: false });
    assert.equal(await inner.revision(), before, "a second deletion writes nothing");
    await ships.change("a", ({ metadata }) => {
      delete metadata.finalizers;
    });
    await assert.rejects(ships.get("a"), refusal(404, "NotFound", /"a"/));
  });

  it("waits for the grace period, which a later delete may shorten to zero", async () => {
    const gracePeriodSeconds = (_: object, requested = 30) => requested;
    const { ships } = new Harbour({ definition: shipsWith({ hooks: { gracePeriodSeconds } }) });
    await ships.create(ship("a"));
    const marked = await ships.remove("a");
    assert.deepEqual([marked.removed, marked.object.metadata.deletionGracePeriodSeconds], [false, 30]);
    const longer = await ships.remove("a", { gracePeriodSeconds: 60 });
    assert.deepEqual(longer, marked);
    assert.equal((await ships.remove("a", { gracePeriodSeconds: 0 })).removed, true);
    await assert.rejects(ships.get("a"), refusal(404, "NotFound", /"a"/));
  });

  it("adds the finalizer of the propagation policy", async () => {
    const { ships } = new Harbour();
    for (const [propagationPolicy, finalizers] of [
      ["Foreground", ["foregroundDeletion"]],
      ["Orphan", ["orphan"]],
    ] as const) {
      await ships.create(ship(propagationPolicy.toLowerCase()));
      const { object, removed } = await ships.remove(propagationPolicy.toLowerCase(), { propagationPolicy });
      assert.deepEqual([removed, object.metadata.finalizers], [false, finalizers]);
    }
    await ships.create(ship("a"));
    assert.equal((await ships.remove("a", { propagationPolicy: "Background" })).removed, true);
  });

  it("enforces preconditions, even if they fail only after a conflict", async () => {
    const { ships, rival, store } = new Harbour();
    const { metadata } = await ships.create(ship("a"));
    const { uid, resourceVersion } = metadata;
    const conflict = (text: RegExp) => refusal(409, "Conflict", text);
    await assert.rejects(ships.remove("a", { preconditions: { uid: "other" } }), conflict(/UID in the precondition/));
    store.meanwhile(() => rival.change("a", spec(7)));
    await assert.rejects(ships.remove("a", { preconditions: { resourceVersion } }), conflict(/ResourceVersion in the/));
    assert.equal((await ships.remove("a", { preconditions: { uid } })).removed, true);
  });

  it("continues after a conflict with the changed or missing object", async () => {
    const { ships, rival, store } = new Harbour();
    await ships.create(ship("a"));
    store.meanwhile(() => rival.change("a", spec(7)));
    const { object, removed } = await ships.remove("a");
    assert.deepEqual([removed, object.spec], [true, { sails: 7 }]);
    await ships.create(ship("b"));
    store.meanwhile(() => rival.remove("b"));
    await assert.rejects(ships.remove("b"), refusal(404, "NotFound", /"b"/));
  });

  it("only marks the object if a competitor adds a finalizer", async () => {
    const { ships, rival, store } = new Harbour();
    await ships.create(ship("a"));
    store.meanwhile(() =>
      rival.change("a", ({ metadata }) => {
        metadata.finalizers = ["sea.example/anchor"];
      }),
    );
    assert.equal((await ships.remove("a")).removed, false);
    assert.ok((await ships.get("a")).metadata.deletionTimestamp);
  });
});

describe("a dry run", () => {
  it("returns the same result and writes nothing", async () => {
    const { ships, inner } = new Harbour();
    await ships.create(ship("a"));
    const before = await inner.revision();
    const dryRun = { dryRun: true };
    const created = await ships.create(ship("b"), dryRun);
    assert.deepEqual([created.metadata.generation, created.metadata.resourceVersion], [1, undefined]);
    await assert.rejects(ships.create(ship("a"), dryRun), refusal(409, "AlreadyExists", /"a"/));
    assert.deepEqual((await ships.change("a", spec(4), dryRun)).object.metadata.generation, 2);
    await assert.rejects(ships.change("a", spec(13), dryRun), unlucky);
    assert.equal((await ships.remove("a", {}, dryRun)).removed, true);
    assert.equal(await inner.revision(), before);
    assert.deepEqual((await ships.get("a")).spec, { sails: 3 });
  });
});

describe("reservations", () => {
  function harbour() {
    const log: string[] = [];
    const reserve: ReserveAction = async ({ next, previous, dryRun }) => {
      log.push(`${dryRun ? "checks" : "reserves"} for ${(next ?? previous)?.metadata.name}`);
      return {
        commit: async () => void log.push("commits"),
        release: async () => void log.push("releases"),
      };
    };
    const at = new Harbour({ definition: shipsWith({ actions: { reserve: "berth" } }), reserve });
    /** The log of an action, without the initial reservation. */
    const during = async (action: () => Promise<unknown>) => {
      log.length = 0;
      await action();
      return log.slice(1);
    };
    return { ...at, ships: at.ships, rival: at.rival, store: at.store, log, during };
  }
  const refuse = async () => {
    throw forbidden({ group: "sea.example", resource: "ships" }, "a", "by admission");
  };

  it("are committed by successful writes and released by rejected ones and dry runs", async () => {
    const { ships, during } = harbour();
    assert.deepEqual(await during(() => ships.create(ship("a"))), ["commits"]);
    assert.deepEqual(await during(() => ships.change("a", spec(4))), ["commits"]);
    const refused = [
      () => assert.rejects(ships.create(ship("b", { spec: { sails: 13 } })), unlucky),
      () => assert.rejects(ships.create(ship("b"), { admit: refuse }), refusal(403, "Forbidden", /by admission/)),
      () => assert.rejects(ships.create(ship("a")), refusal(409, "AlreadyExists", /"a"/)),
      () => assert.rejects(ships.change("a", spec(13)), unlucky),
      () => ships.change("a", () => undefined),
      () => ships.create(ship("c"), { dryRun: true }),
    ];
    for (const action of refused) assert.deepEqual(await during(action), ["releases"]);
    assert.deepEqual(await during(() => ships.remove("a")), ["commits"]);
  });

  it("are released after a conflict and made anew by the next attempt", async () => {
    const { ships, rival, store, during } = harbour();
    await ships.create(ship("a"));
    store.meanwhile(async () => {
      await rival.change("a", spec(7));
    });
    const theirs = ["reserves for a", "commits"];
    assert.deepEqual(await during(() => ships.change("a", spec(4))), [
      ...theirs,
      "releases",
      "reserves for a",
      "commits",
    ]);
  });

  it("are kept if it is unknown whether the write happened", async () => {
    const { ships, store, during } = harbour();
    for (const when of ["before", "after"] as const) {
      store.failNext("put", { error: new StoreError("unavailable", "no answer"), when });
      assert.deepEqual(await during(() => assert.rejects(ships.create(ship(when)))), []);
    }
    assert.equal((await ships.get("after")).metadata.name, "after");
  });
});
