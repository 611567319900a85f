import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, test } from "node:test";
import { eventually } from "../../../test/support/time.ts";
import { makeAuthority } from "../../http/x509.ts";
import { drivenEnvironment } from "../../lib/environment.suite.ts";
import { openAuthorityFile } from "./authority-file.ts";

let folder: string;
before(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "binnacle-authorities-"));
});
after(() => rm(folder, { recursive: true }));

const good = makeAuthority("one", Date.now()).certificate;
const broken = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";

test("a client authority must hold certificates", async () => {
  const file = path.join(folder, "clients.pem");
  for (const wrong of ["", "garbage", broken, good + broken]) {
    await writeFile(file, wrong);
    await assert.rejects(openAuthorityFile(file), /clients.pem: data does not contain any valid RSA or ECDSA certifi/);
  }
  await writeFile(file, good + good);
  assert.equal((await openAuthorityFile(file)).text, good + good);
});

test("a file that has changed is read again, a broken one changes nothing", async (t) => {
  const file = path.join(folder, "changing.pem");
  const environment = drivenEnvironment();
  await writeFile(file, good);
  const authorities = await openAuthorityFile(file);
  let changes = 0;
  const watched = authorities.watch(file, environment, () => changes++);
  t.after(() => watched.close());
  await writeFile(file, broken);
  const failures = () => environment.lines.filter(({ level }) => level === "error").length;
  await eventually(async () => {
    await environment.clock.advance(1000);
    return failures() === 1;
  });
  assert.deepEqual([authorities.text, changes], [good, 0]);
  const other = makeAuthority("two", Date.now()).certificate;
  await writeFile(file, other);
  await eventually(async () => {
    await environment.clock.advance(1000);
    return authorities.text === other;
  });
  assert.equal(changes, 1);
  assert.equal(failures(), 1, "a broken file is reported once");
});
