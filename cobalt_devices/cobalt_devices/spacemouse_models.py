"""Which HID devices are SpaceMice, by vendor and product."""

_LOGITECH = 0x046D
_3DCONNEXION = 0x256F

MULTI_AXIS = (0x01, 0x08)
"""HID usage page and usage of a controller with six axes (HID Usage Tables, Generic Desktop page)."""

MODELS = {
    (_LOGITECH, 0xC603): 'SpaceMouse Plus XT',
    (_LOGITECH, 0xC605): 'CADman',
    (_LOGITECH, 0xC606): 'SpaceMouse Classic',
    (_LOGITECH, 0xC621): 'SpaceBall 5000',
    (_LOGITECH, 0xC623): 'SpaceTraveler',
    (_LOGITECH, 0xC625): 'SpacePilot',
    (_LOGITECH, 0xC626): 'SpaceNavigator',
    (_LOGITECH, 0xC627): 'SpaceExplorer',
    (_LOGITECH, 0xC628): 'SpaceNavigator for Notebooks',
    (_LOGITECH, 0xC629): 'SpacePilot Pro',
    (_LOGITECH, 0xC62B): 'SpaceMouse Pro',
    (_3DCONNEXION, 0xC62E): 'SpaceMouse Wireless, by cable',
    (_3DCONNEXION, 0xC62F): 'receiver of a SpaceMouse Wireless',
    (_3DCONNEXION, 0xC631): 'SpaceMouse Pro Wireless, by cable',
    (_3DCONNEXION, 0xC632): 'receiver of a SpaceMouse Pro Wireless',
    (_3DCONNEXION, 0xC633): 'SpaceMouse Enterprise',
    (_3DCONNEXION, 0xC635): 'SpaceMouse Compact',
    (_3DCONNEXION, 0xC636): 'SpaceMouse Module',
    (_3DCONNEXION, 0xC638): 'SpaceMouse Pro Wireless, by cable or Bluetooth',
    (_3DCONNEXION, 0xC63A): 'SpaceMouse Wireless, by cable or Bluetooth',
    (_3DCONNEXION, 0xC641): 'SpaceMouse USB',
    (_3DCONNEXION, 0xC652): '3Dconnexion Universal Receiver',
}
"""Names by vendor and product id. Older models carry the vendor id of Logitech, of which the maker was a part."""


def model_of(vendor_id: int, product_id: int, usage_page: int, usage: int) -> str | None:
    """Returns the name of a SpaceMouse; None for another device, or for another interface of the same.

    A device that the table lacks is one if its maker is 3Dconnexion and it says that it has six axes.

    Args:
        vendor_id: USB vendor.
        product_id: USB product.
        usage_page: Of the interface's first collection; 0 if it is not known.
        usage: Likewise.
    """
    has_axes = (usage_page, usage) == MULTI_AXIS
    known = MODELS.get((vendor_id, product_id))
    if known is not None:
        return known if has_axes or not usage_page else None
    return 'SpaceMouse of a model that is not in our list' if vendor_id == _3DCONNEXION and has_axes else None
