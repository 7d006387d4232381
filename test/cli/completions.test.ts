import { spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { makeTempDir } from '../support/store.js'
import { missing } from '../support/tools.js'
import { runCli } from './run.js'

t.setTimeout(120_000)

/** What each command line offers behind it, in every shell. */
const offers: readonly [line: string, offered: readonly string[]][] = [
  ['posthorn que', ['queue']],
  ['posthorn queue re', ['release', 'retry']],
  ['posthorn --data /tmp queue retry --cl', ['--class']],
  ['posthorn queue retry --class ', ['automation', 'campaign', 'transactional']],
  ['posthorn queue retry --domain a.test --class=ca', ['campaign']],
  ['posthorn help queue tran', ['transcript']],
  ['posthorn contacts his', ['history']],
  ['posthorn account set-billing-state City ', ['active', 'expired', 'past_due']],
  ['posthorn completions ', ['bash', 'fish', 'zsh']],
  ['posthorn key create x --sco', ['--scope']],
  ['posthorn suppression import ', ['only-file.csv']],
  ['posthorn restore --to ./ --key only', ['only-file.csv']],
  ['posthorn queue list --js', ['--json']],
  ['posthorn queue list --email ', []],
]

async function scriptFor(t: Test, shell: string) {
  const folder = makeTempDir(t)
  const { status, stdout, stderr } = await runCli(['completions', shell])
  t.match({ status, stderr }, { status: 0, stderr: '' })
  const file = join(folder, `_posthorn`)
  writeFileSync(file, stdout)
  const cwd = join(folder, 'cwd')
  mkdirSync(cwd)
  writeFileSync(join(cwd, 'only-file.csv'), '')
  const run = (program: string, ...args: string[]) => {
    const { stdout, stderr } = spawnSync(program, args, { cwd, encoding: 'utf8', timeout: 30_000 })
    t.equal(stderr, '')
    return stdout.split('\n').filter((line) => line !== '')
  }
  return { file, run }
}

/** `--class=campaign` and `campaign`: what is put there, not what stands in the line before. */
const plain = (words: readonly string[]) =>
  words.map((word) => word.replace(/^--class=/, '').replace(/\t.*/, '')).sort()

t.test('bash completes commands, options and values', async (t) => {
  const { file, run } = await scriptFor(t, 'bash')
  t.same(run('bash', '-c', `. ${file}; complete -p posthorn`), ['complete -F _posthorn posthorn'])
  for (const [line, offered] of offers) {
    // Readline splits at '=' too, and knows no empty word but the last one.
    const words = line.split(/ |(=)/).filter((word, i, all) => word || i === all.length - 1)
    const quoted = words.map((word) => `'${word}'`).join(' ')
    const script = `. ${file}; COMP_WORDS=(${quoted}); COMP_CWORD=${words.length - 1}
      _posthorn; printf '%s\\n' "\${COMPREPLY[@]}"`
    t.same(plain(run('bash', '--norc', '-c', script)), offered, line)
  }
})

t.test('fish completes commands, options and values', { skip: missing('fish') }, async (t) => {
  const { file, run } = await scriptFor(t, 'fish')
  for (const [line, offered] of offers) {
    const script = `source ${file}; complete -C '${line}'`
    t.same(plain(run('fish', '--no-config', '-c', script)), offered, line)
  }
})

t.test('zsh completes commands, options and values', { skip: missing('zsh') }, async (t) => {
  const { file, run } = await scriptFor(t, 'zsh')
  for (const [line, offered] of offers) {
    t.same(plain(run('zsh', '-f', '-c', offersOfZsh, file, line)), offered, line)
  }
})

// What TAB offers is known to the line editor alone, so one runs on a terminal of its own: $0 is the file of
// completions, $1 the line. `compadd` is what all completion comes down to.
const offersOfZsh = `
zmodload zsh/zpty
zpty z zsh -f -i
until_said() { until [[ $REPLY == *$1* ]] { zpty -r z REPLY '*'$'\\n' } }
zpty -w z "PROMPT=; stty -echo; fpath+=($\{0:h}); autoload -U compinit; compinit -u -d $\{0:h}/dump; echo ready'-'1"
until_said ready-1
zpty -w z 'compadd() {
  if [[ $\{@[1,(i)(-|--)]} != *-(O|A|D)\\ * ]]; then
    local -a hits; builtin compadd -A hits "$@"; print -lr -- "hit:"$^hits
  fi
  builtin compadd "$@"
}
finish() { print done:; exit }
comppostfuncs=(finish); bindkey "^I" complete-word; zstyle ":completion:*" insert-tab false; echo ready'"'-'2"
until_said ready-2
zpty -w -n z "$1"$'\\t'
while zpty -r z REPLY '*'$'\\n'; do
  [[ $REPLY == *done:* ]] && break
  [[ $REPLY == *hit:?* ]] && print -r -- $\{$\{REPLY##*hit:}%%[$'\\r\\n']*}
done
zpty -d z
`
