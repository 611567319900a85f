import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { HtmlRewriter } from "./rewrite-html.ts";
import { rewriteUrl } from "./rewrite-url.ts";

const prefix = "/api/v1/namespaces/default/pods/web/proxy";
const base = { prefix, backendHost: "10.0.0.1:80", requestHost: "kube.example:6443" };

// Same cases as for `Transport.rewriteURL` of k8s.io/apimachinery.
const urls: readonly (readonly [url: string, rewritten: string])[] = [
  ["/a", `${prefix}/a`],
  ["/a/?b=c#d", `${prefix}/a/?b=c#d`],
  ["a/b", "a/b"],
  ["http://10.0.0.1:80/a", `${prefix}/a`],
  ["http://kube.example:6443/a", `http://kube.example:6443${prefix}/a`],
  [`http://kube.example:6443${prefix}/a`, `http://kube.example:6443${prefix}/a`],
  ["http://elsewhere.example/a", "http://elsewhere.example/a"],
  ["//elsewhere.example/a", "//elsewhere.example/a"],
  [`${prefix}/a`, `${prefix}/a`],
  ["mailto:a@b", "mailto:a@b"],
  ["javascript:alert(1)", "javascript:alert(1)"],
  ["/a/../b", `${prefix}/b`],
  ["/a%zz", "/a%zz"],
  ["", ""],
];

test("rewrites URLs of the backend and keeps others", () => {
  for (const [url, rewritten] of urls) assert.equal(rewriteUrl(url, base), rewritten, url);
});

const pages: readonly (readonly [page: string, rewritten: string])[] = [
  ['<a href="/x">y</a>', `<a href="${prefix}/x">y</a>`],
  ["<A HREF=/x TARGET=_top>", `<a href="${prefix}/x" target="_top">`],
  ["<img alt='1 > 0' src='/i.png'/>", `<img alt="1 &gt; 0" src="${prefix}/i.png"/>`],
  ['<p class="a&amp;b">/x</p>', '<p class="a&amp;b">/x</p>'],
  ['<p title="caf&eacute; &copy">', '<p title="caf&eacute; &amp;copy">'],
  [
    '<script src="/s.js">if (a<b) "<a href=/x>"</script>',
    `<script src="${prefix}/s.js">if (a<b) "<a href=/x>"</script>`,
  ],
  ['<!-- <a href="/x"> --><a href="/x?a=1&amp;b=2">', `<!-- <a href="/x"> --><a href="${prefix}/x?a=1&amp;b=2">`],
  ["<!DOCTYPE html>\n<form action=/f method=post>", `<!DOCTYPE html>\n<form action="${prefix}/f" method="post">`],
  ["1 < 2 <br>", "1 < 2 <br>"],
  ["<a href=", "<a href="],
  ["<textarea><a href=/x></textarea><a href=/x>", `<textarea><a href=/x></textarea><a href="${prefix}/x">`],
];

suite("pages", () => {
  for (const [page, rewritten] of pages) {
    test(page, () => {
      // For every split into pieces.
      for (let size = 1; size <= page.length; size++) {
        const rewriter = new HtmlRewriter((url) => rewriteUrl(url, base));
        let out = "";
        for (let at = 0; at < page.length; at += size) out += rewriter.push(page.slice(at, at + size));
        assert.equal(out + rewriter.end(), rewritten);
      }
    });
  }

  test("passes unfinished markup through instead of buffering it", () => {
    const rewriter = new HtmlRewriter((url) => url);
    let out = 0;
    for (let piece = 0; piece < 100; piece++) out += rewriter.push(`<a href="${"x".repeat(64 * 1024)}`).length;
    assert.ok(out > 90 * 64 * 1024);
  });
});
