// Thorough: Prometheus reads every query of the board.
import { execFile } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { catalogue } from '../../src/metrics/catalogue.js'
import { startPosthorn } from '../support/posthorn.js'
import { missing } from '../support/tools.js'

const run = promisify(execFile)
const skip = missing('promtool')
const folder = 'config/grafana'
const rulesFile = join(folder, 'posthorn.rules.yml')

interface Target {
  expr: string
  legendFormat?: string
}
interface Panel {
  id: number
  type: string
  title: string
  gridPos: { x: number; y: number; w: number; h: number }
  datasource?: { type: string; uid: string }
  targets?: Target[]
}
interface Board {
  schemaVersion: number
  panels: Panel[]
  annotations: { list: { expr?: string }[] }
  templating: { list: { name: string; type: string }[] }
}

const board: Board = JSON.parse(readFileSync(join(folder, 'posthorn-board.json'), 'utf8'))
const rules = readFileSync(rulesFile, 'utf8')
const boardQueries = [
  ...board.panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr)),
  ...board.annotations.list.flatMap(({ expr }) => (expr === undefined ? [] : [expr])),
]
/** Each `expr: >-` with the lines below it. */
const ruleQueries = [...rules.matchAll(/expr: >-\n((?: {10}.*\n)+)/g)].map(([, text = '']) =>
  text.replaceAll(/\s+/g, ' ').trim(),
)

/** What a query asks for: `name{label="…"}`; its labels are those of the selector. */
function asked(query: string): { name: string; labels: string[] }[] {
  return [...query.matchAll(/\b((?:posthorn|process|nodejs)_[a-z_]+|up)\b(?:\{([^}]*)\})?/g)].map(
    ([, name = '', selector = '']) => ({
      name,
      labels: [...selector.matchAll(/(\w+)\s*(?:=~|!~|!=|=)/g)].map(([, label = '']) => label),
    }),
  )
}

// Prometheus gives these to whatever it scrapes.
const ofTarget = ['instance', 'job']

t.test('every metric of the board and the rules is one of a running appliance', async (t) => {
  const posthorn = await startPosthorn(t, { settings: { backup: { dir: t.testdir() } } })
  const text = await (await fetch(`${posthorn.url}/metrics`)).text()
  const exposed = new Set([...text.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name))
  const queries = [...boardQueries, ...ruleQueries]
  t.ok(boardQueries.length > 40 && ruleQueries.length > 25, `${queries.length} queries were read`)
  for (const query of queries) {
    const found = asked(query).filter(({ name }) => name !== 'up')
    if (!query.includes('up{')) t.ok(found.length > 0, query)
    for (const { name, labels } of found) {
      const base = name.replace(/_(bucket|sum|count)$/, '')
      t.ok(exposed.has(name) || exposed.has(base), `${name} is exposed`)
      const known = catalogue[base as keyof typeof catalogue]
      const allowed: string[] = [...ofTarget, 'le', ...(known?.labels ?? [])]
      t.same(
        labels.filter((label) => !allowed.includes(label)),
        [],
        `${name} has the labels of ${query}`,
      )
    }
  }
})

t.test(
  'Prometheus takes the rules, and their cases come out as they should',
  { skip },
  async (t) => {
    t.match((await run('promtool', ['check', 'rules', rulesFile])).stdout, 'SUCCESS')
    const cases = ['test', 'rules', 'posthorn.rules.test.yml']
    t.match((await run('promtool', cases, { cwd: folder })).stdout, 'SUCCESS')
    const example = join(folder, 'prometheus.example.yml')
    await run('promtool', ['check', 'config', '--syntax-only', example])
  },
)

t.test('Prometheus can read every query of the board', { skip }, async (t) => {
  const records = boardQueries.map((query, at) => {
    const expr = query.replaceAll('$__rate_interval', '5m').replaceAll('$instance', '.*')
    return { record: `board:query:${at}`, expr }
  })
  const file = join(t.testdir(), 'board.yml')
  // JSON is YAML.
  writeFileSync(file, JSON.stringify({ groups: [{ name: 'board', rules: records }] }))
  t.match((await run('promtool', ['check', 'rules', file])).stdout, `${records.length} rules found`)
})

t.test('what /metrics says is what Prometheus reads', { skip }, async (t) => {
  const posthorn = await startPosthorn(t)
  const text = await (await fetch(`${posthorn.url}/metrics`)).text()
  const checked = execFile('promtool', ['check', 'metrics'])
  let said = ''
  checked.stderr?.on('data', (chunk) => {
    said += chunk
  })
  checked.stdin?.end(text)
  await new Promise((resolve) => checked.once('close', resolve))
  t.same(
    said.split('\n').filter((line) => line.startsWith('posthorn_')),
    [],
  )
})

t.test('each alert names a severity and a command or page that mends it', async (t) => {
  const alerts = rules.split(/\n {6}- alert: /).slice(1)
  for (const alert of alerts) {
    const name = alert.slice(0, alert.indexOf('\n'))
    t.match(alert, /severity: (critical|warning)\n/, name)
    t.match(alert, /\n {10}summary: ".+"\n {10}fix: ".+"/, name)
  }
  const { commands } = await import('../../src/cli/index.js')
  const words = [...rules.matchAll(/posthorn ([a-z]+)\b/g)].map(([, word = '']) => word)
  t.ok(words.length > 20)
  t.same(
    [...new Set(words)].filter((word) => !Object.hasOwn(commands, word)),
    [],
    'they are there',
  )
})

t.test('the board needs no plugin, and a data source of any name', async (t) => {
  t.ok(board.schemaVersion >= 38, 'Grafana 10')
  t.match(board.templating.list, [{ name: 'datasource', type: 'datasource' }, { name: 'instance' }])
  const own = ['row', 'stat', 'timeseries']
  for (const { type, title, datasource, gridPos } of board.panels) {
    t.ok(own.includes(type), `${title}: ${type}`)
    if (type !== 'row')
      t.match(datasource, { type: 'prometheus', uid: /^\$\{datasource\}$/ }, title)
    t.ok(gridPos.x + gridPos.w <= 24, title)
  }
  t.equal(new Set(board.panels.map(({ id }) => id)).size, board.panels.length)
  const overlap = board.panels.flatMap((one, at) =>
    board.panels.slice(at + 1).filter((other) => {
      const [a, b] = [one.gridPos, other.gridPos]
      return a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h
    }),
  )
  t.same(overlap, [])
})
