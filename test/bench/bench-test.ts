import type { Test } from 'tap'

/** What the helpers of tests want of a test, for programs that are none. */
export function benchTest(): { t: Test; end(): Promise<void> } {
  const teardowns: (() => unknown)[] = []
  const t = {
    teardown: (done: () => unknown) => void teardowns.push(done),
    passing: () => true,
    comment() {},
  }
  return {
    t: t as unknown as Test,
    async end() {
      for (const done of teardowns.reverse()) await done()
    },
  }
}
