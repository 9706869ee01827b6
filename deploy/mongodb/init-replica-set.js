// Run by mongosh in docker-compose.cluster.yml: makes the replica set and the service's own user; safe to repeat.
const root = encodeURIComponent(process.env.MONGODB_ROOT_PASSWORD);
const first = new Mongo(`mongodb://root:${root}@mongodb-1:27017/admin?directConnection=true`);
const admin = first.getDB("admin");

const members = [1, 2, 3].map((n) => ({ _id: n - 1, host: `mongodb-${n}:27017` }));
try {
  admin.adminCommand({ replSetInitiate: { _id: "rs0", members } });
} catch (error) {
  if (error.codeName !== "AlreadyInitialized") throw error;
}

// The first member may have lost an election since: users are made on whichever is primary.
const hosts = members.map(({ host }) => host).join(",");
const uri = `mongodb://root:${root}@${hosts}/admin?replicaSet=rs0&serverSelectionTimeoutMS=60000`;
const linkledger = new Mongo(uri).getDB("linkledger");
const user = { pwd: process.env.MONGODB_PASSWORD, roles: [{ role: "readWrite", db: "linkledger" }] };
if (linkledger.getUser("linkledger")) linkledger.updateUser("linkledger", user);
else linkledger.createUser({ user: "linkledger", ...user });
print("replica set rs0 and user linkledger are ready");
