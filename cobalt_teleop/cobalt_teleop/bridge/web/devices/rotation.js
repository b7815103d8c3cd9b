// Rotations as [x, y, z, w] and poses as [x, y, z, qx, qy, qz, qw], in axes of REP 103: x forward, y left, z up.

export function multiply([ax, ay, az, aw], [bx, by, bz, bw]) {
  return [
    aw * bx + ax * bw + ay * bz - az * by,
    aw * by - ax * bz + ay * bw + az * bx,
    aw * bz + ax * by - ay * bx + az * bw,
    aw * bw - ax * bx - ay * by - az * bz,
  ];
}

export function rotate(turn, [x, y, z]) {
  const [qx, qy, qz, qw] = turn;
  return multiply(multiply(turn, [x, y, z, 0]), [-qx, -qy, -qz, qw]).slice(0, 3);
}

function about(axis, angle) {
  const turn = [0, 0, 0, Math.cos(angle / 2)];
  turn[axis] = Math.sin(angle / 2);
  return turn;
}

// An angle as one from -π to π.
export function wrapped(angle) {
  return Math.atan2(Math.sin(angle), Math.cos(angle));
}

// The same rotation, with the sign that lies nearer to the one before: a sequence of them has no leaps.
export function continuous(turn, before) {
  const along = turn.reduce((sum, value, index) => sum + value * before[index], 0);
  return along < 0 ? turn.map((value) => -value) : turn;
}

// transform: an XRRigidTransform, in a space with x right, y up, z backward.
export function poseFromXR({ position: p, orientation: q }) {
  return [-p.z, -p.x, p.y, -q.z, -q.x, q.y, q.w];
}

// A phone that stands upright and is looked at: forward is away from who looks, which is backward through the screen.
const FROM_SCREEN = [-0.5, 0.5, 0.5, 0.5];

// Angles of a DeviceOrientationEvent [deg], as turns about z, then x, then y; screenAngle: of the screen's content [deg].
export function turnFromAngles(alpha, beta, gamma, screenAngle) {
  const [z, x, y, screen] = [alpha, beta, gamma, screenAngle].map((angle) => (angle * Math.PI) / 180);
  const device = multiply(multiply(about(2, z), about(0, x)), about(1, y));
  return multiply(multiply(device, about(2, -screen)), FROM_SCREEN);
}

// Where a phone points in the horizontal plane: its back while it stands upright, its upper edge while it lies flat.
export function yawOf(turn) {
  const forward = rotate(turn, [1, 0, 0]);
  const up = rotate(turn, [0, 0, 1]);
  return Math.atan2(forward[1] - forward[2] * up[1], forward[0] - forward[2] * up[0]);
}
