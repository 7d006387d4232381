import { carryOut, type Order } from '../backup/index.js'
import { messageOf } from '../errors/index.js'

// The process that the jobs `backup` and `backup-check` start (`backup/apart.ts`). It gets one
// order as a message, sends one answer, and ends. It also ends when its parent is gone.
const stop = new AbortController()
process.once('SIGTERM', () => stop.abort(new Error('The appliance stopped, or it took too long')))
process.once('disconnect', () => stop.abort(new Error('The appliance is gone')))
process.once('message', (order: Order) => {
  void carryOut(order, process.env, stop.signal)
    .catch((error: unknown) => ({ error: messageOf(error) }))
    .then((done) => process.send?.(done, () => process.exit()))
})
