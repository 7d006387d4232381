import { readdirSync } from 'node:fs'

// Every test may cover all of src. Without this, tap counts test/support as well.
const covered = readdirSync('dist/src', { recursive: true })
  .filter((name) => name.endsWith('.js'))
  .map((name) => `dist/src/${name}`)

export default () => covered
