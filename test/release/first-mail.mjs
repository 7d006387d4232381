// In a Debian root, by a release's own Node: starts the appliance by the command that `posthorn setup --json`
// has named, sends a mail, and says what the sandbox inbox found of its signatures.
import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'

const { apiKey, privateUrl, domain, left } = JSON.parse(readFileSync(process.argv[2], 'utf8'))
const [program, ...args] = left[0].what.replace(/^start it: /, '').split(' ')
const appliance = spawn(program, args, { stdio: ['ignore', 'ignore', 'inherit'] })
const ended = new Promise((resolve) => appliance.once('exit', resolve))
appliance.once('exit', (code) => code !== 0 && process.exit(1))

const until = async (look) => {
  for (;;) {
    const found = await look().catch(() => undefined)
    if (found) return found
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}
const get = async (path) => {
  const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' }
  return (await fetch(privateUrl + path, { headers })).json()
}

await until(async () => (await fetch(`${privateUrl}/readyz`)).ok)
const sent = await fetch(`${privateUrl}/v1/emails/send`, {
  method: 'POST',
  headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
  body: JSON.stringify({ from: `hello@${domain}`, to: 'you@example.org', subject: 'First', html: '<p>Hello</p>' }),
})
const { id } = await sent.json()
const reply = await until(async () => (await get(`/v1/emails/${id}`)).email.recipients[0].reply)
const [, number] = /Kept in the sandbox as (\d+)/.exec(reply)
const verdicts = await until(async () => (await get(`/sandbox/${number}.json`)).verdicts)
for (const { algorithm, result } of verdicts.dkim) console.log(algorithm, result)
appliance.kill('SIGTERM')
await ended
