// Preloaded by `node --import` into a process and each of its threads: their clock is the machine's, moved by as many
// milliseconds as a file says.
import { readFileSync } from 'node:fs'

const file = process.env.POSTHORN_TEST_CLOCK
const real = Date.now.bind(Date)
let movedMs = 0
const look = () => {
  if (file !== undefined) movedMs = Number(readFileSync(file, 'utf8'))
}
look()
setInterval(look, 50).unref()
Date.now = () => real() + movedMs
