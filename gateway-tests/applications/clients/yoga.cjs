// yoga.cjs PORT SIZE    Starts GraphQL Yoga with a schema that has a query, a mutation with a file, and a subscription.
const { createServer } = require('node:http')
const { createSchema, createYoga } = require('graphql-yoga')
const { renderGraphiQL } = require('@graphql-yoga/render-graphiql')
const [port, size] = process.argv.slice(2).map(Number)
const yoga = createYoga({
  logging: false,
  maxRequestBodySize: false,
  renderGraphiQL,
  schema: createSchema({
    typeDefs: `
      scalar File
      type Query { hello: String! }
      type Mutation { size(file: File!): Int! }
      type Subscription { count(to: Int!): Int! }`,
    resolvers: {
      Query: { hello: () => 'world' },
      Mutation: {
        size: async (_, { file }) => {
          let size = 0
          for await (const piece of file.stream()) size += piece.length
          return size
        },
      },
      Subscription: {
        count: {
          async * subscribe(_, { to }) {
            for (let count = 1; count <= to; count++) {
              yield { count }
              await new Promise(resolve => setTimeout(resolve, 200))
            }
          },
        },
      },
    },
  }),
})
const piece = Buffer.alloc(1_000_000, 'x')
createServer(async (request, response) => {
  if (request.url !== '/big') return yoga(request, response)
  response.writeHead(200, { 'Content-Length': size })
  for (let sent = 0; sent < size; sent += piece.length) {
    if (!response.write(piece)) await new Promise(resolve => response.once('drain', resolve).once('close', resolve))
    if (response.destroyed) return
  }
  response.end()
}).listen(port, '127.0.0.1')
