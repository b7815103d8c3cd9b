// Along whose axes a device moves the tool, for the bridge: what the person has chosen, and the picture that he looks at.

const STRAIGHT = Math.PI / 2;
const NEARLY = Math.PI / 12;

// A camera that looks nearly along an axis of the base counts as looking along it: then one key is one axis.
function straightened(yaw) {
  const nearest = Math.round(yaw / STRAIGHT) * STRAIGHT;
  return Math.abs(yaw - nearest) < NEARLY ? nearest : yaw;
}

// chosen: view, base or tool. camera: that of the large picture, as the bridge describes it, or null.
// heading: yaw of the person's forward in the device's frame [rad].
export function axesFor(chosen, camera, heading = 0) {
  if (chosen !== 'view' || !camera) return { reference: chosen, heading };
  if (camera.carried_by) return { reference: 'tool', heading };
  if (camera.yaw === null) return { reference: 'view', heading };
  const turned = heading - straightened(camera.yaw);
  return { reference: 'base', heading: Math.atan2(Math.sin(turned), Math.cos(turned)) };
}
