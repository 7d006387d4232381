import { readdirSync, readFileSync } from 'node:fs'
import { posix } from 'node:path'
import t from 'tap'

/*
 * dependency-cruiser reads dist/src, where `import type` has vanished. Here the same rules are
 * held against every import in src, those of types included.
 */
interface Rule {
  name: string
  scope?: string
  from: { path?: string; pathNot?: string }
  to: { path?: string; pathNot?: string; reachable?: boolean }
}

const config: { forbidden: Rule[] } = JSON.parse(readFileSync('.dependency-cruiser.json', 'utf8'))
// Those about single imports within src; circles, packages and reachability are left to depcruise.
const rules = config.forbidden.filter(
  ({ to, scope }) => scope === undefined && to.reachable !== true && to.path?.includes('dist/src/'),
)

/** The names of the rules that an import breaks; paths as in dist (`dist/src/dns/index.js`). */
function broken(from: string, to: string): string[] {
  return rules
    .filter((rule) => {
      const source = rule.from.path === undefined ? [''] : from.match(rule.from.path)
      if (source === null) return false
      if (rule.from.pathNot !== undefined && new RegExp(rule.from.pathNot).test(from)) return false
      const fill = (pattern = '') =>
        new RegExp(pattern.replace(/\$(\d)/g, (_, at: string) => source[Number(at)] ?? ''))
      if (!fill(rule.to.path).test(to)) return false
      return rule.to.pathNot === undefined || !fill(rule.to.pathNot).test(to)
    })
    .map((rule) => rule.name)
}

const imports = readdirSync('src', { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.ts'))
  .flatMap((name) => {
    const from = posix.join('dist/src', name.replace(/\.ts$/, '.js'))
    const text = readFileSync(posix.join('src', name), 'utf8')
    return [...text.matchAll(/\b(?:from|import)\s*\(?\s*'(\.{1,2}\/[^']+)'/g)].map(
      ([, target = '']) => ({ from, to: posix.join(posix.dirname(from), target) }),
    )
  })

t.test('no import in src, not even of a type, breaks a layer or passes by a door', async (t) => {
  t.ok(imports.length > 50, `${imports.length} imports were read`)
  t.same(
    imports.flatMap(({ from, to }) => broken(from, to).map((rule) => `${rule}: ${from} → ${to}`)),
    [],
  )
})

t.test('folders import each other in no circle', async (t) => {
  const folder = (path: string) => path.split('/')[2] ?? ''
  const below = new Map<string, Set<string>>()
  for (const { from, to } of imports) {
    if (folder(from) === folder(to)) continue
    below.set(folder(from), (below.get(folder(from)) ?? new Set()).add(folder(to)))
  }
  // What imports nothing that is left is taken away; a circle stays.
  for (let found = true; found; ) {
    found = false
    for (const [name, targets] of below) {
      if ([...targets].some((target) => below.has(target))) continue
      below.delete(name)
      found = true
    }
  }
  t.same(Object.fromEntries([...below].map(([name, to]) => [name, [...to]])), {})
})

t.test('files import each other in no circle, not even by a type', async (t) => {
  const below = new Map<string, string[]>()
  for (const { from, to } of imports) {
    below.set(from, [...(below.get(from) ?? []), to])
  }
  t.same(circleIn(below), [])
})

t.test('a circle is seen, however long', async (t) => {
  const circle = new Map([
    ['a', ['b', 'c']],
    ['b', ['d']],
    ['c', ['d', 'a']],
  ])
  t.same(circleIn(circle), ['a', 'c', 'a'])
  t.same(
    circleIn(
      new Map([
        ['a', ['b', 'c']],
        ['b', ['c']],
      ]),
    ),
    [],
  )
})

t.test('the rules see what they are meant to see', async (t) => {
  for (const [from, to, rule] of [
    ['dns/a.js', 'store/index.js', 'protocol-is-pure'],
    ['dns/a.js', 'emails/index.js', 'ground-and-protocol-know-nothing-above'],
    ['contacts/a.js', 'emails/index.js', 'records-know-no-mail-flow'],
    ['emails/a.js', 'broadcasts/index.js', 'mail-flow-knows-no-campaigns'],
    ['automations/a.js', 'dashboard/index.js', 'campaigns-know-no-dashboard'],
    ['dashboard/a.js', 'app/index.js', 'pages-know-no-app'],
    ['client/a.js', 'errors/index.js', 'the-client-knows-nothing-here'],
    ['cli/a.js', 'client/index.js', 'nothing-here-needs-the-client'],
    ['openapi/a.js', 'app/index.js', 'pages-know-no-app'],
    ['emails/a.js', 'openapi/index.js', 'mail-flow-knows-no-campaigns'],
    ['app/a.js', 'cli/index.js', 'app-knows-no-entries'],
    ['cli/a.js', 'misc/index.js', 'every-folder-has-its-layer'],
    ['emails/a.js', 'contacts/import.js', 'folders-are-entered-by-their-door'],
    ['cli/a.js', 'emails/routes.js', 'routes-are-opened-by-app-alone'],
    ['cli/a.js', 'dashboard/index.js', 'pages-are-opened-by-app-alone'],
    ['cli/a.js', 'openapi/index.js', 'pages-are-opened-by-app-alone'],
    ['outbound/a.js', 'http/index.js', 'mail-threads-import-no-http'],
    ['automations/runs/a.js', 'automations/events/a.js', 'rooms-are-entered-by-their-door'],
  ] as const) {
    t.ok(broken(`dist/src/${from}`, `dist/src/${to}`).includes(rule), `${from} → ${to}: ${rule}`)
  }
  for (const [from, to] of [
    ['app/a.js', 'emails/routes.js'],
    ['app/a.js', 'dashboard/index.js'],
    ['openapi/a.js', 'emails/index.js'],
    ['threads/outbound.js', 'app/thread.js'],
    ['emails/a.js', 'emails/b.js'],
    ['emails/routes.js', 'http/index.js'],
    ['inbound/a.js', 'suppression/index.js'],
    ['store/a.js', 'clock/index.js'],
    ['smtp/a.js', 'dns/index.js'],
  ] as const) {
    t.same(broken(`dist/src/${from}`, `dist/src/${to}`), [], `${from} → ${to} is fine`)
  }
})

/** The first circle that is found, as the path that leads back to its beginning; empty without one. */
function circleIn(below: ReadonlyMap<string, readonly string[]>): string[] {
  const done = new Set<string>()
  const visit = (file: string, path: readonly string[]): string[] => {
    if (path.includes(file)) return [...path.slice(path.indexOf(file)), file]
    if (done.has(file)) return []
    for (const target of below.get(file) ?? []) {
      const circle = visit(target, [...path, file])
      if (circle.length > 0) return circle
    }
    done.add(file)
    return []
  }
  for (const file of below.keys()) {
    const circle = visit(file, [])
    if (circle.length > 0) return circle
  }
  return []
}
