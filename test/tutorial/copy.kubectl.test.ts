import assert from "node:assert/strict";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, suite, test } from "node:test";
import { type ControlPlane, startControlPlane } from "../../src/testing.ts";
import { type Kubectl, kubectlFor } from "../support/kubectl.ts";
import { needs } from "../support/tools.ts";
import { filesImage } from "./files-image.ts";

const LARGE = 3_000_000;

suite("kubectl cp with a function that knows tar", { ...needs("kubectl") }, () => {
  let folder = "";
  let cp: ControlPlane;
  let kubectl: Kubectl;
  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), "binnacle-cp-"));
    cp = await startControlPlane({ cluster: true });
    cp.cluster.image("files:*", filesImage(new Map([["etc/motd", Buffer.from("ahoy\n")]])));
    await writeFile(local("kubeconfig"), cp.kubeconfig);
    kubectl = kubectlFor(local("kubeconfig"));
    await succeed("run", "store", "--image=files:1");
    await succeed("wait", "--for=condition=Ready", "pod/store", "--timeout=300s");
  });
  after(async () => {
    await cp?.close();
    await rm(folder, { recursive: true, force: true });
  });
  const succeed = async (...args: string[]) => {
    const { code, stdout, stderr } = await kubectl(args);
    assert.equal(code, 0, `${args.join(" ")}:\n${stdout}${stderr}`);
    return stdout;
  };
  const local = (name: string) => path.join(folder, name);

  test("copies a file to a container", async () => {
    await writeFile(local("note.txt"), "from outside\n");
    await succeed("cp", local("note.txt"), "store:/data/note.txt");
    assert.equal(await succeed("exec", "store", "--", "cat", "/data/note.txt"), "from outside\n");
  });

  test("copies a folder to a container and back", async () => {
    await mkdir(local("tree/deep"), { recursive: true });
    await writeFile(local("tree/large"), Buffer.alloc(LARGE, "x"));
    await writeFile(local("tree/deep/small"), "");
    await succeed("cp", local("tree"), "store:/data");
    await succeed("cp", "store:/data/tree", local("back"));
    assert.equal((await readFile(local("back/large"))).length, LARGE);
    assert.equal(await readFile(local("back/deep/small"), "utf8"), "");
  });

  test("copies a file from a container", async () => {
    await succeed("cp", "store:/etc/motd", local("motd"));
    assert.equal(await readFile(local("motd"), "utf8"), "ahoy\n");
  });
});
