/** For comparison with the appliance: a server that parses the JSON and answers, nothing else. */
import { Server } from 'hyper-express'

const server = new Server()
server.get('/', (_, response) => response.send('up'))
server.post('/v1/emails/send', async (request, response) => {
  const body = (await request.json()) as { to: string }
  response.json({ id: body.to, message: 'Email queued' })
})
await server.listen(Number(process.argv[2]), '127.0.0.1')
