import { existsSync, readdirSync, statSync } from 'node:fs'
import { basename, dirname, join, normalize } from 'node:path'
import t from 'tap'
import { documents, read } from './documents.js'

/* What the documents lead to is there. */

const pages = [...documents, 'CHANGELOG.md']

/** The names that GitHub gives to headings. */
const anchorsOf = (file: string) =>
  [...read(file).matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) =>
    heading
      .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\- _]/gu, '')
      .replaceAll(' ', '-'),
  )

t.test('every link leads to a file, and to a heading of it', async (t) => {
  const broken: string[] = []
  for (const page of pages) {
    for (const [, link = ''] of read(page).matchAll(/\]\(([^)\s]+)\)/g)) {
      if (/^(https?|mailto):/.test(link)) continue
      const [path = '', anchor] = link.split('#')
      const target = path === '' ? page : normalize(join(dirname(page), path))
      const isThere =
        existsSync(target) && (anchor === undefined || anchorsOf(target).includes(anchor))
      if (!isThere) broken.push(`${page}: ${link}`)
    }
  }
  t.same(broken, [])
})

t.test('every source file and test that a page names is there', async (t) => {
  const files = ['src', 'test', 'config', 'systemd'].flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name)),
  )
  const names = new Set(files.map((file) => basename(file)))
  const missing: string[] = []
  for (const page of documents) {
    for (const [, name = ''] of read(page).matchAll(/`([\w./-]+\.(?:ts|ejs))`/g)) {
      // Types that the appliance serves.
      if (name.endsWith('.d.ts')) continue
      const isThere = name.includes('/')
        ? files.some((file) => file === name || file.endsWith(`/${name}`))
        : names.has(name)
      if (!isThere) missing.push(`${page}: ${name}`)
    }
    for (const [, path = ''] of read(page).matchAll(/`((?:src|test)\/[\w./-]+\/)`/g)) {
      if (!existsSync(path) || !statSync(path).isDirectory()) missing.push(`${page}: ${path}`)
    }
  }
  t.same(missing, [])
})

t.test('README.md is a page that is read to its end', async (t) => {
  t.ok(read('README.md').split('\n').length <= 131, 'at most 130 lines')
})
